"""Sentiment of short made-up reviews with a GRU."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

random.seed(0)
torch.manual_seed(0)
GOOD = "great lovely tasty friendly quick superb warm fresh".split()
BAD = "awful cold slow rude stale bland dirty greasy".split()
THINGS = "soup waiter table bread service room music dessert coffee".split()


def review():
    label = random.randint(0, 1)
    parts = []
    for _ in range(random.randint(1, 4)):
        # now and then a clause of the other kind, or a negation
        own, other = (GOOD, BAD) if label else (BAD, GOOD)
        if random.random() < 0.3:
            parts += ["the", random.choice(THINGS), "was", "not", random.choice(other)]
        else:
            parts += ["the", random.choice(THINGS), "was", random.choice(own)]
        parts.append("and")
    return parts[:-1], label


corpus = [review() for _ in range(2000)]
vocab = {"<pad>": 0, "<unk>": 1}
for tokens, _ in corpus[:1600]:
    for t in tokens:
        vocab.setdefault(t, len(vocab))


def collate(batch):
    ids = [torch.tensor([vocab.get(t, 1) for t in tokens]) for tokens, _ in batch]
    lengths = torch.tensor([len(i) for i in ids])
    return pad_sequence(ids, batch_first=True), lengths, torch.tensor([float(l) for _, l in batch])


class Sentiment(nn.Module):
    def __init__(self, n_words):
        super().__init__()
        self.emb = nn.Embedding(n_words, 24, padding_idx=0)
        self.gru = nn.GRU(24, 32, batch_first=True)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(32, 1)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.fc(self.drop(h[-1])).squeeze(-1)


train_dl = DataLoader(corpus[:1600], batch_size=32, shuffle=True, collate_fn=collate)
test_dl = DataLoader(corpus[1600:], batch_size=100, collate_fn=collate)
model = Sentiment(len(vocab))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(6):
    model.train()
    total = 0.0
    for ids, lengths, labels in train_dl:
        opt.zero_grad()
        loss = loss_fn(model(ids, lengths), labels)
        loss.backward()
        opt.step()
        total += loss.item()
    model.eval()
    right = 0
    with torch.no_grad():
        for ids, lengths, labels in test_dl:
            right += ((model(ids, lengths) > 0).float() == labels).sum().item()
    print(f"epoch {epoch + 1} loss {total / len(train_dl):.3f} accuracy {right / 400:.3f}")
