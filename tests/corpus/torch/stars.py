import random
import time

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from transformers import DistilBertConfig, DistilBertModel, get_linear_schedule_with_warmup

random.seed(8)
np.random.seed(8)
torch.manual_seed(8)

VALUE = {"awful": -2.0, "poor": -1.0, "dull": -0.8, "okay": 0.1, "fine": 0.5, "good": 1.0, "great": 1.6, "superb": 2.2}
FILLER = "the a film plot cast scene music was is and with of some this it very".split()
vocab = {w: i for i, w in enumerate(["<pad>", "<s>", "not"] + list(VALUE) + FILLER)}


def make_review():
    words, score = [], 3.0
    for _ in range(random.randint(1, 4)):
        words += random.choices(FILLER, k=random.randint(1, 4))
        w = random.choice(list(VALUE))
        if random.random() < 0.2:
            words += ["not", w]
            score -= 0.5 * VALUE[w]
        else:
            words.append(w)
            score += 0.5 * VALUE[w]
    return " ".join(words), score + random.gauss(0, 0.1)


def collate(rows):
    ids = [[1] + [vocab[w] for w in text.split()] for text, _ in rows]
    width = max(map(len, ids))
    x = torch.tensor([r + [0] * (width - len(r)) for r in ids])
    y = torch.tensor([s for _, s in rows], dtype=torch.float)
    return {"input_ids": x, "attention_mask": (x != 0).long()}, y


def make_loader(rows, batch_size=32, shuffle=True):
    return DataLoader(rows, batch_size=batch_size, shuffle=shuffle, collate_fn=collate)


class StarModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = DistilBertModel(DistilBertConfig(
            vocab_size=len(vocab), dim=64, n_layers=2, n_heads=4, hidden_dim=128, max_position_embeddings=32))
        self.head = nn.Sequential(nn.Linear(64, 32), nn.GELU(), nn.Linear(32, 1))

    def forward(self, input_ids, attention_mask):
        h = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        m = attention_mask.unsqueeze(-1).float()
        return self.head((h * m).sum(1) / m.sum(1)).squeeze(-1)


@torch.no_grad()
def predict(model, loader):
    model.eval()
    return np.concatenate([model(**x).numpy() for x, _ in loader])


def spearman(a, b):
    ra, rb = a.argsort().argsort(), b.argsort().argsort()
    return np.corrcoef(ra, rb)[0, 1]


train_loader = make_loader([make_review() for _ in range(2400)])
val_loader = make_loader([make_review() for _ in range(400)], 100)

model = StarModel()
EPOCHS = 8
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
scheduler = get_linear_schedule_with_warmup(optimizer, 40, EPOCHS * len(train_loader))
criterion = nn.MSELoss()

for epoch in range(1, EPOCHS + 1):
    model.train()
    t0, total = time.time(), 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(**x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        total += loss.item()
    stars = np.concatenate([y.numpy() for _, y in val_loader])
    guess = predict(model, val_loader)
    r2 = 1 - ((guess - stars) ** 2).mean() / stars.var()
    print(f"epoch {epoch}  train mse {total / len(train_loader):.4f}  val r2 {r2:.3f}  "
          f"spearman {spearman(guess, stars):.3f}  {time.time() - t0:.1f}s")
