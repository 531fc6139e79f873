import io
import random
import re

import pandas as pd
import torch
import torch.nn as nn
from torch.utils.data import DataLoader

random.seed(21)
torch.manual_seed(21)

SPAM = ["free", "winner", "claim", "prize", "cash", "urgent", "txt", "call", "offer", "voucher", "won", "guaranteed"]
HAM = ["lunch", "home", "sorry", "later", "mum", "bus", "tonight", "love", "class", "film", "train", "dinner"]
BOTH = ["the", "you", "now", "to", "a", "please", "today", "see", "is", "and", "your", "for", "get", "we", "time"]


def message(spam):
    own = SPAM if spam else HAM
    words = random.choices(own, k=random.randint(2, 4)) + random.choices(BOTH, k=random.randint(4, 9))
    if random.random() < 0.2:
        words.append(random.choice(HAM if spam else SPAM))
    random.shuffle(words)
    return " ".join(words)


lines = ["text, label"]
for _ in range(1800):
    is_spam = random.random() < 0.35
    lines.append(f"{message(is_spam)}, {'spam' if is_spam else 'ham'}")
csv_file = io.StringIO("\n".join(lines))

df = pd.read_csv(csv_file)
df.columns = [c.strip() for c in df.columns]
df["target"] = (df["label"] == "spam").astype("float32")

train_df = df.iloc[:1500]
test_df = df.iloc[1500:]


def tokenize(text):
    return re.findall(r"[a-z]+", text.lower())


vocab = {"<unk>": 0}
for text in train_df["text"]:
    for w in tokenize(text):
        vocab.setdefault(w, len(vocab))


def collate(rows):
    ids, offsets, y = [], [], []
    for text, target in rows:
        offsets.append(len(ids))
        ids.extend(vocab.get(w, 0) for w in tokenize(text))
        y.append(target)
    return torch.tensor(ids), torch.tensor(offsets), torch.tensor(y)


class SpamNet(nn.Module):
    def __init__(self, vocab_size, dim=32):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab_size, dim, mode="mean")
        self.fc = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, ids, offsets):
        return self.fc(self.bag(ids, offsets)).squeeze(1)


train_rows = list(zip(train_df["text"], train_df["target"]))
test_rows = list(zip(test_df["text"], test_df["target"]))
train_loader = DataLoader(train_rows, batch_size=32, shuffle=True, collate_fn=collate)
test_loader = DataLoader(test_rows, batch_size=64, collate_fn=collate)

model = SpamNet(len(vocab))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(6):
    model.train()
    total = 0
    for ids, offsets, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(ids, offsets), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    right = 0
    with torch.no_grad():
        for ids, offsets, y in test_loader:
            right += ((model(ids, offsets) > 0).float() == y).sum().item()
    print(f"epoch {epoch + 1} train loss {total / len(train_loader):.4f} test accuracy {right / len(test_rows):.4f}")

inbox = ["urgent you won a cash prize call now", "sorry mum see you home tonight", "claim your free voucher today"]
with torch.no_grad():
    scores = torch.sigmoid(model(*collate([(t, 0.0) for t in inbox])[:2]))
for t, s in zip(inbox, scores):
    print(f"{s:.3f}  {t}")
