# question tagging (several tags per question, most tags are rare)
import numpy as np
import torch
from sklearn.metrics import average_precision_score, f1_score
from torch import nn
from torch.utils.data import DataLoader

rng = np.random.default_rng(11)
torch.manual_seed(11)
TAGS = ["python", "pandas", "css", "sql", "docker"]
RATES = [0.35, 0.15, 0.12, 0.08, 0.05]
VOCAB_SIZE = 600


def make_questions(n):
    y = (rng.random((n, 5)) < RATES).astype(np.float32)
    docs = []
    for row in y:
        words = list(rng.integers(200, VOCAB_SIZE, rng.integers(10, 25)))
        for t in np.flatnonzero(row):
            words += list(t * 40 + rng.integers(0, 40, rng.integers(2, 6)))
        words += list(rng.integers(0, 200, 1))
        rng.shuffle(words)
        docs.append(words)
    return list(zip(docs, y))


def collate_batch(batch):
    text, offsets, labels = [], [0], []
    for words, tags in batch:
        text.extend(words)
        offsets.append(len(words))
        labels.append(tags)
    offsets = torch.tensor(offsets[:-1]).cumsum(dim=0)
    return torch.tensor(np.array(text)), offsets, torch.tensor(np.array(labels))


data = make_questions(6000)
train_data, val_data, test_data = data[:4000], data[4000:5000], data[5000:]
train_dl = DataLoader(train_data, batch_size=32, shuffle=True, collate_fn=collate_batch)
val_dl = DataLoader(val_data, batch_size=200, collate_fn=collate_batch)
test_dl = DataLoader(test_data, batch_size=200, collate_fn=collate_batch)

embed = nn.EmbeddingBag(VOCAB_SIZE, 32, mode="sum", sparse=True)
head = nn.Sequential(nn.ReLU(), nn.Linear(32, 5))
nn.init.normal_(embed.weight, std=0.05)

pos = np.stack([t for _, t in train_data]).sum(0)
pos_weight = torch.tensor((len(train_data) - pos) / pos)
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
opt_embed = torch.optim.SparseAdam(embed.parameters(), lr=2e-3)
opt_head = torch.optim.AdamW(head.parameters(), lr=2e-3)


@torch.no_grad()
def predict(loader):
    embed.eval(), head.eval()
    scores, truth = [], []
    for text, offsets, labels in loader:
        scores.append(torch.sigmoid(head(embed(text, offsets))).numpy())
        truth.append(labels.numpy())
    return np.concatenate(scores), np.concatenate(truth)


for epoch in range(5):
    embed.train(), head.train()
    total = 0.0
    for text, offsets, labels in train_dl:
        loss = criterion(head(embed(text, offsets)), labels)
        opt_embed.zero_grad()
        opt_head.zero_grad()
        loss.backward()
        opt_embed.step()
        opt_head.step()
        total += loss.item()
    s, t = predict(val_dl)
    print(f"epoch {epoch} train loss {total / len(train_dl):.4f}  val mAP {average_precision_score(t, s, average='macro'):.4f}")

s, t = predict(val_dl)
cuts = np.linspace(0.05, 0.95, 37)
thr = np.array([cuts[np.argmax([f1_score(t[:, k], s[:, k] > c, zero_division=0) for c in cuts])] for k in range(5)])
s, t = predict(test_dl)
print("pos_weight", pos_weight.numpy().round(1), "thresholds", thr.round(2))
for k, name in enumerate(TAGS):
    print(f"{name:8s} f1 {f1_score(t[:, k], s[:, k] > thr[k]):.3f}  ap {average_precision_score(t[:, k], s[:, k]):.3f}  rate {t[:, k].mean():.3f}")
