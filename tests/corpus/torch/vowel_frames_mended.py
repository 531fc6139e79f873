"""Classify audio frames (toy formant spectra) with a deep residual MLP."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Cfg:
    bins: int = 64
    width: int = 64
    depth: int = 20
    n_train: int = 6000
    n_test: int = 1500
    batch: int = 64
    epochs: int = 8
    lr: float = 1e-3
    seed: int = 3


FORMANTS = [(12, 40), (14, 34), (18, 30), (22, 44), (10, 50), (16, 24), (20, 38), (26, 54)]


def spectra(n, cfg, rng):
    y = rng.integers(0, len(FORMANTS), n)
    axis = np.arange(cfg.bins)[None, :]
    f = np.array(FORMANTS)[y] + rng.normal(0, 1.2, (n, 2))
    amp = rng.uniform(0.6, 1.4, (n, 2))
    spec = amp[:, :1] * np.exp(-((axis - f[:, :1]) / 3.0) ** 2)
    spec += amp[:, 1:] * np.exp(-((axis - f[:, 1:]) / 3.5) ** 2)
    spec += 0.15 * rng.normal(size=spec.shape)
    spec = (spec - spec.mean(1, keepdims=True)) / spec.std(1, keepdims=True)
    return torch.tensor(spec, dtype=torch.float32), torch.tensor(y)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.lin1 = nn.Linear(width, width)
        self.lin2 = nn.Linear(width, width)

    def forward(self, x):
        h = F.relu(self.lin1(x))
        h = self.lin2(h)
        return x + 0.3 * h


class FrameNet(nn.Module):
    def __init__(self, cfg, n_classes):
        super().__init__()
        self.stem = nn.Linear(cfg.bins, cfg.width)
        self.blocks = nn.Sequential(*[Block(cfg.width) for _ in range(cfg.depth)])
        self.head = nn.Linear(cfg.width, n_classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def run(cfg):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    xtr, ytr = spectra(cfg.n_train, cfg, rng)
    xte, yte = spectra(cfg.n_test, cfg, rng)
    net = FrameNet(cfg, len(FORMANTS))
    opt = torch.optim.AdamW(net.parameters(), lr=cfg.lr, weight_decay=1e-4)
    for ep in range(cfg.epochs):
        net.train()
        order = torch.randperm(len(xtr))
        tot = 0.0
        for s in range(0, len(order), cfg.batch):
            b = order[s:s + cfg.batch]
            loss = F.cross_entropy(net(xtr[b]), ytr[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(b)
        net.eval()
        with torch.no_grad():
            acc = (net(xte).argmax(-1) == yte).float().mean().item()
        print(f"[{ep}] loss={tot / len(xtr):.4f} test_acc={acc:.3f}")
    return acc


if __name__ == "__main__":
    print("test accuracy", round(run(Cfg()), 3))
