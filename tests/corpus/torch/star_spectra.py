from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    n_train: int = 4000
    n_test: int = 1000
    bins: int = 128
    classes: int = 6
    batch: int = 64
    epochs: int = 10
    lr: float = 1e-3
    weight_decay: float = 0.5
    seed: int = 0


class SpectraMaker:
    """Continuum + absorption lines at class-dependent places, with a small redshift."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.rng = np.random.default_rng(cfg.seed)
        self.lines = [self.rng.choice(np.arange(10, cfg.bins - 10), 5, replace=False) for _ in range(cfg.classes)]

    def __call__(self, n):
        c, r = self.cfg, self.rng
        y = r.integers(0, c.classes, n)
        grid = np.arange(c.bins)
        x = np.zeros((n, c.bins), np.float32)
        for i in range(n):
            flux = 1 + r.normal(0, 0.3) * (grid / c.bins - 0.5)
            shift = r.integers(-3, 4)
            for k in self.lines[y[i]]:
                depth = r.uniform(0.3, 0.8)
                flux = flux - depth * np.exp(-0.5 * ((grid - k - shift) / 1.5) ** 2)
            x[i] = flux + r.normal(0, 0.12, c.bins)
        return torch.from_numpy((x - 0.9) / 0.25), torch.from_numpy(y)


class SpectrumNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 7, padding=3)
        self.conv2 = nn.Conv1d(16, 32, 5, padding=2)
        self.fc1 = nn.Linear(32 * cfg.bins // 16, 64)
        self.fc2 = nn.Linear(64, cfg.classes)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.conv1(x[:, None])), 4)
        x = F.max_pool1d(F.relu(self.conv2(x)), 4)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    make = SpectraMaker(cfg)
    xtr, ytr = make(cfg.n_train)
    xte, yte = make(cfg.n_test)
    net = SpectrumNet(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)

    for epoch in range(1, cfg.epochs + 1):
        net.train()
        perm = torch.randperm(cfg.n_train)
        seen = []
        for idx in perm.split(cfg.batch):
            opt.zero_grad()
            loss = F.cross_entropy(net(xtr[idx]), ytr[idx])
            loss.backward()
            opt.step()
            seen.append(loss.item())
        net.eval()
        with torch.no_grad():
            logits = net(xte)
            acc = (logits.argmax(1) == yte).float().mean().item()
            val = F.cross_entropy(logits, yte).item()
        print(f"epoch {epoch}: train {np.mean(seen):.3f} val {val:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
