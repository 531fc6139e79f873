"""Pump condition from short audio clips (1-D conv net)."""
import resource
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    n_train: int = 2400
    n_val: int = 1600
    samples: int = 2000
    batch: int = 32
    epochs: int = 6
    lr: float = 2e-3
    seed: int = 5


class PumpClips(Dataset):
    states = ["normal", "cavitation", "bearing"]

    def __init__(self, n, samples, seed):
        g = np.random.default_rng(seed)
        t = np.arange(samples) / 4000.0
        self.y = g.integers(0, 3, n)
        clips = []
        for c in self.y:
            base = np.sin(2 * np.pi * g.uniform(48, 52) * t + g.uniform(0, 6.28))
            noise = g.normal(0, 0.4, samples)
            if c == 1:
                noise += 0.35 * g.normal(0, 1, samples) * (np.sin(2 * np.pi * 9 * t + g.uniform(0, 6)) > 0.4)
            elif c == 2:
                noise += 0.2 * np.sin(2 * np.pi * g.uniform(310, 350) * t)
            clips.append(base + noise)
        self.x = np.stack(clips).astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]).unsqueeze(0), int(self.y[i])


class ClipNet(nn.Module):
    def __init__(self, n_classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 16, 33, stride=2, padding=16), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 24, 9, stride=2, padding=4), nn.BatchNorm1d(24), nn.ReLU(),
            nn.Conv1d(24, 32, 9, stride=2, padding=4), nn.BatchNorm1d(32), nn.ReLU(),
        )
        self.out = nn.Linear(64, n_classes)

    def forward(self, x):
        h = self.features(x)
        return self.out(torch.cat([h.mean(-1), h.amax(-1)], dim=1))


def train_one_epoch(net, loader, criterion, opt):
    net.train()
    seen, total = 0, 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        opt.step()
        total += loss.item() * len(y)
        seen += len(y)
    return total / seen


def validate(net, loader, criterion):
    net.eval()
    val_loss, hits, seen = 0, 0, 0
    for x, y in loader:
        logits = net(x)
        val_loss += criterion(logits, y).item() * len(y)
        hits += (logits.argmax(1) == y).sum().item()
        seen += len(y)
    return val_loss / seen, hits / seen


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    train = DataLoader(PumpClips(cfg.n_train, cfg.samples, 1), batch_size=cfg.batch, shuffle=True)
    val = DataLoader(PumpClips(cfg.n_val, cfg.samples, 2), batch_size=cfg.batch)
    net = ClipNet()
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr)
    print(f"data ready, peak {peak_mb():.0f} MB")
    for epoch in range(cfg.epochs):
        t0 = time.time()
        tr = train_one_epoch(net, train, criterion, opt)
        va, acc = validate(net, val, criterion)
        print(f"{epoch}: train {tr:.3f} val {va:.3f} acc {acc:.3f} "
              f"({time.time() - t0:.1f}s, peak {peak_mb():.0f} MB)")


if __name__ == "__main__":
    main()
