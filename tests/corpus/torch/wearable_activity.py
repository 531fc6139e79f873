"""Human activity recognition from a wrist accelerometer (3 axes, 50 Hz, 2.56 s windows)."""
import math
import os
import random
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

ACTIVITIES = ("sit", "walk", "run", "cycle", "stairs", "row")


@dataclass
class Config:
    n_train: int = 2400
    n_valid: int = 800
    window: int = 128
    batch_size: int = 64
    epochs: int = 15
    lr: float = 3e-3
    dropout: float = 0.5
    seed: int = 11


class WristWindows(Dataset):
    """Each window: gravity direction + periodic motion + sensor noise."""

    freq = {"sit": 0.2, "walk": 1.8, "run": 2.7, "cycle": 1.4, "stairs": 1.6, "row": 0.5}
    amp = {"sit": 0.05, "walk": 0.5, "run": 1.2, "cycle": 0.3, "stairs": 0.6, "row": 0.8}
    harmonic = {"sit": 0.0, "walk": 0.5, "run": 0.7, "cycle": 0.1, "stairs": 0.9, "row": 0.2}

    def __init__(self, n, window, seed):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(window) / 50.0
        self.x, self.y = torch.empty(n, 3, window), torch.randint(0, len(ACTIVITIES), (n,), generator=g)
        for i, k in enumerate(self.y.tolist()):
            a = ACTIVITIES[k]
            f = self.freq[a] * (1 + 0.12 * torch.randn(1, generator=g))
            amp = self.amp[a] * torch.exp(0.3 * torch.randn(1, generator=g))
            direction = torch.randn(3, 1, generator=g)
            direction /= direction.norm()
            gravity = torch.randn(3, 1, generator=g)
            gravity /= gravity.norm()
            ph = 2 * math.pi * torch.rand(2, generator=g)
            motion = torch.sin(2 * math.pi * f * t + ph[0]) \
                + self.harmonic[a] * torch.sin(4 * math.pi * f * t + ph[1])
            self.x[i] = gravity + amp * direction * motion + 0.12 * torch.randn(3, window, generator=g)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class ActivityNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(3, 16, 9, stride=2, padding=4), nn.ReLU(), nn.Dropout(cfg.dropout),
            nn.Conv1d(16, 24, 7, stride=2, padding=3), nn.ReLU(), nn.Dropout(cfg.dropout),
            nn.Conv1d(24, 32, 5, stride=2, padding=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(2), nn.Flatten(),
        )
        self.head = nn.Sequential(
            nn.Dropout(cfg.dropout), nn.Linear(64, 32), nn.ReLU(),
            nn.Dropout(cfg.dropout), nn.Linear(32, len(ACTIVITIES)),
        )

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return self.head(self.features(x))


def run_epoch(model, loader, criterion, optimizer):
    model.train()
    running, n = 0.0, 0
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item() * y.numel()
        n += y.numel()
    return running / n


def validate(model, loader, criterion):
    hits, loss, n = 0, 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += criterion(out, y).item() * y.numel()
            hits += (out.argmax(1) == y).sum().item()
            n += y.numel()
    return loss / n, hits / n


def main(cfg=Config()):
    random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    os.makedirs("out", exist_ok=True)
    train = DataLoader(WristWindows(cfg.n_train, cfg.window, 1), cfg.batch_size, shuffle=True, drop_last=True)
    valid = DataLoader(WristWindows(cfg.n_valid, cfg.window, 2), 200)

    model = ActivityNet(cfg)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[10, 13], gamma=0.3)
    for epoch in range(cfg.epochs):
        tr = run_epoch(model, train, criterion, optimizer)
        va, acc = validate(model, valid, criterion)
        scheduler.step()
        print(f"[{epoch + 1:02d}/{cfg.epochs}] train {tr:.3f} | valid {va:.3f} | acc {acc:.3f}")
    torch.save(model.state_dict(), "out/activity.pt")
    share = torch.bincount(valid.dataset.y).max().item() / cfg.n_valid
    print(f"majority class {share:.3f}; final validation accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
