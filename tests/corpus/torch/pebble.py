import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

# tagging of short notes: every note gets any number of the topics below
TOPICS = ["sport", "money", "travel", "food", "health"]
WORDS_PER_TOPIC, COMMON = 12, 40
VOCAB = WORDS_PER_TOPIC * len(TOPICS) + COMMON


def build(n, seed):
    rng = np.random.default_rng(seed)
    bags = np.zeros((n, VOCAB), dtype=np.float32)
    tags = (rng.random((n, len(TOPICS))) < 0.35).astype(np.float32)
    for i in range(n):
        for w in rng.integers(0, COMMON, 15):
            bags[i, w] += 1
        for k in np.flatnonzero(tags[i]):
            for w in rng.integers(0, WORDS_PER_TOPIC, rng.integers(2, 5)):
                bags[i, COMMON + k * WORDS_PER_TOPIC + w] += 1
    return torch.from_numpy(np.log1p(bags)), torch.from_numpy(tags)


torch.manual_seed(5)
data = TensorDataset(*build(3000, 5))
train_set, val_set = random_split(data, [2500, 500])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)

net = nn.Sequential(nn.Linear(VOCAB, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, len(TOPICS)))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)


def tag_accuracy(output, target):
    predicted = torch.round(output)
    return (predicted == target).float().mean(dim=0)


for epoch in range(1, 16):
    net.train()
    epoch_loss = 0
    for x, t in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(x), t)
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() / len(train_loader)

    net.eval()
    outs, targets, val_loss = [], [], 0
    with torch.no_grad():
        for x, t in val_loader:
            out = net(x)
            val_loss += criterion(out, t).item() / len(val_loader)
            outs.append(out)
            targets.append(t)
    acc = tag_accuracy(torch.cat(outs), torch.cat(targets))
    per_tag = " ".join(f"{name}={a:.2f}" for name, a in zip(TOPICS, acc.tolist()))
    print(f"{epoch:2d} train {epoch_loss:.4f} val {val_loss:.4f} acc {acc.mean():.3f} | {per_tag}")
