"""Which activity is being carried out? Three-axis accelerometer windows -> 6 activities."""
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ACTIVITIES = ["walk", "jog", "stairs", "cycle", "row", "rest"]


class Windows(Dataset):
    def __init__(self, n, length, seed):
        rng = np.random.default_rng(seed)
        t = np.arange(length) / 50.0
        freq = [1.8, 2.9, 1.4, 1.1, 0.6, 0.2]
        amp = [(1.0, 0.4, 0.2), (1.6, 0.6, 0.5), (1.1, 0.3, 0.9), (0.3, 0.9, 0.3), (0.8, 0.2, 1.2), (0.1, 0.1, 0.1)]
        self.x = np.zeros((n, 3, length), dtype=np.float32)
        self.y = rng.integers(0, 6, n)
        for i, c in enumerate(self.y):
            f = freq[c] * rng.normal(1, 0.06)
            ph = rng.uniform(0, 2 * np.pi)
            for a in range(3):
                s = np.sin(2 * np.pi * f * t + ph + a) + 0.4 * np.sin(4 * np.pi * f * t + ph)
                self.x[i, a] = amp[c][a] * s + rng.normal(0, 0.35, length)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])


class GaitNet(nn.Module):
    def __init__(self, length, width=24, n_classes=6):
        super().__init__()
        self.n_classes = n_classes
        self.length = length
        self.conv1 = nn.Conv1d(3, width, 7, padding=3)
        self.conv2 = nn.Conv1d(width, width, 5, padding=2)
        self.norm1 = nn.BatchNorm1d(width)
        self.norm2 = nn.BatchNorm1d(width)
        self.fc = nn.Linear(width * (length // 16), n_classes)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.norm1(self.conv1(x))), 4)
        x = F.max_pool1d(F.relu(self.norm2(self.conv2(x))), 4)
        x = x.flatten(1)
        return self.fc(x)


def evaluate(model, loader):
    model.eval()
    hit = tot = 0
    with torch.no_grad():
        for x, y in loader:
            hit += (model(x).argmax(1) == y).sum().item()
            tot += len(y)
    return hit / tot


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--length", type=int, default=128)
    args = ap.parse_args()
    torch.manual_seed(11)

    train = DataLoader(Windows(2400, args.length, 0), batch_size=48, shuffle=True)
    test = DataLoader(Windows(600, args.length, 1), batch_size=200)
    model = GaitNet(args.length)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for ep in range(args.epochs):
        model.train()
        run = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            run += loss.item()
        print(f"epoch {ep} loss {run / len(train):.3f} acc {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
