"""Small conv net that tells five leaf conditions apart from 24x24 colour patches."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ["healthy", "rust", "mildew", "chlorosis", "blight"]
BASE = np.array([[0.25, 0.55, 0.20], [0.38, 0.46, 0.20], [0.36, 0.55, 0.33], [0.42, 0.58, 0.20], [0.28, 0.42, 0.18]])
SPOTS = [0, 6, 4, 0, 8]


def render(label, rng):
    img = np.ones((3, 24, 24)) * BASE[label][:, None, None]
    img *= rng.uniform(0.85, 1.15)
    for _ in range(rng.poisson(SPOTS[label])):
        r, c, k = rng.integers(0, 21), rng.integers(0, 21), rng.integers(2, 4)
        img[:, r : r + k, c : c + k] *= rng.uniform(0.5, 0.8)
    vein = rng.integers(4, 20)
    img[:, :, vein : vein + 2] *= 1.15
    return img + rng.normal(0, 0.05, img.shape)


def folder(per_class, seed):
    """Mimics reading class folders one after another."""
    rng = np.random.default_rng(seed)
    x, y = [], []
    for label in range(len(CLASSES)):
        for _ in range(per_class):
            x.append(render(label, rng))
            y.append(label)
    x = torch.tensor(np.array(x), dtype=torch.float32)
    x = (x - 0.35) / 0.18
    return TensorDataset(x, torch.tensor(y))


class Block(nn.Sequential):
    def __init__(self, i, o, stride=1):
        super().__init__(nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class LeafNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(Block(3, 16), Block(16, 24, 2), Block(24, 32, 2), nn.AdaptiveAvgPool2d(1))
        self.head = nn.Linear(32, len(CLASSES))

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


def train_epoch(model, loader, criterion, optimizer):
    model.train()
    seen = hits = 0
    for x, y in loader:
        optimizer.zero_grad()
        logits = model(x)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        hits += (logits.argmax(1) == y).sum().item()
        seen += len(y)
    return hits / seen


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    hits, seen = torch.zeros(len(CLASSES)), torch.zeros(len(CLASSES))
    for x, y in loader:
        pred = model(x).argmax(1)
        for c in range(len(CLASSES)):
            hits[c] += ((pred == c) & (y == c)).sum()
            seen[c] += (y == c).sum()
    return (hits.sum() / seen.sum()).item(), (hits / seen).tolist()


if __name__ == "__main__":
    torch.manual_seed(1)
    train_loader = DataLoader(folder(400, 0), batch_size=64, shuffle=True, drop_last=True)
    val_loader = DataLoader(folder(60, 1), batch_size=30)
    net = LeafNet()
    optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        tr = train_epoch(net, train_loader, criterion, optimizer)
        va, per_class = evaluate(net, val_loader)
        print(f"epoch {epoch + 1}: train acc {tr:.3f}  val acc {va:.3f}")
    for name, acc in zip(CLASSES, per_class):
        print(f"  {name:10s} {acc:.2f}")
