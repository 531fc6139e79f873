"""Moth wing patterns (16x16 grey patches), a small CNN with mixup."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def wing_templates(k, rng):
    yy, xx = np.mgrid[:16, :16] / 16.0
    out = []
    for _ in range(k):
        fx, fy, ph = rng.uniform(1, 4), rng.uniform(1, 4), rng.uniform(0, 6.28)
        cx, cy = rng.uniform(0.2, 0.8, 2)
        spot = np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.02)
        out.append(np.sin(6.28 * (fx * xx + fy * yy) + ph) + 1.5 * spot)
    return np.stack(out)


def sample(templates, n, rng, noise=1.6):
    y = rng.integers(0, len(templates), n)
    shift = rng.integers(-1, 2, size=(n, 2))
    x = np.stack([np.roll(templates[c], tuple(s), (0, 1)) for c, s in zip(y, shift)])
    x = x + noise * rng.normal(size=x.shape)
    return torch.tensor(x, dtype=torch.float32).unsqueeze(1), torch.tensor(y)


class WingNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(32 * 16, 64)
        self.fc2 = nn.Linear(64, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def mixup(x, y, alpha, rng):
    lam = float(rng.beta(alpha, alpha))
    other = torch.randperm(len(x))
    mixed = lam * x + (1 - lam) * x[other]
    return mixed, y, y[other], lam


def mixup_loss(logits, ya, yb, lam):
    return lam * F.cross_entropy(logits, ya) + (1 - lam) * F.cross_entropy(logits, yb)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--alpha", type=float, default=0.2)
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--classes", type=int, default=10)
    p.add_argument("--lr", type=float, default=1e-3)
    a = p.parse_args()

    torch.manual_seed(21)
    rng = np.random.default_rng(21)
    templates = wing_templates(a.classes, rng)
    xtr, ytr = sample(templates, 4000, rng)
    xte, yte = sample(templates, 1000, rng)
    net = WingNet(a.classes)
    opt = torch.optim.AdamW(net.parameters(), lr=a.lr)
    for ep in range(a.epochs):
        net.train()
        tot = 0.0
        for idx in torch.randperm(len(xtr)).split(50):
            xm, ya, yb, lam = mixup(xtr[idx], ytr[idx], a.alpha, rng)
            loss = mixup_loss(net(xm), ya, yb, lam)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        net.eval()
        with torch.no_grad():
            acc = (net(xte).argmax(1) == yte).float().mean().item()
        print(f"epoch {ep:2d} mixup loss {tot / 80:.3f} test acc {acc:.3f}")


if __name__ == "__main__":
    main()
