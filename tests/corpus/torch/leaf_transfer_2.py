"""Leaf silhouettes: train a small CNN on the garden species, then carry it over to the
herbarium species, for which we only have a few dozen scans each."""
import math
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

SEED = 7
SIZE = 28
N_GARDEN, N_HERB = 8, 12


def species_table(n, rng):
    """Each species: harmonics of the outline and an aspect ratio."""
    return [dict(amp=rng.uniform(0.0, 0.22, 5), ph=rng.uniform(0, 2 * np.pi, 5), asp=rng.uniform(0.6, 1.5))
            for _ in range(n)]


def draw(table, labels, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    out = np.empty((len(labels), 1, SIZE, SIZE), np.float32)
    for i, lab in enumerate(labels):
        sp = table[lab]
        cx, cy = SIZE / 2 + rng.normal(0, 1.0, 2)
        dx, dy = (xx - cx) * sp["asp"], (yy - cy) / sp["asp"]
        r = np.hypot(dx, dy)
        th = np.arctan2(dy, dx) + rng.normal(0, 0.12)
        amp = sp["amp"] * rng.normal(1, 0.12, 5)
        edge = 1 + sum(a * np.cos((k + 2) * th + p) for k, (a, p) in enumerate(zip(amp, sp["ph"])))
        edge = edge * 8.0 * rng.uniform(0.85, 1.15)
        out[i, 0] = 1 / (1 + np.exp(-(edge - r) * 1.5))
    out += rng.normal(0, 0.15, out.shape)
    return torch.from_numpy((out - 0.4) / 0.45)


class LeafNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(3),
            nn.Flatten(), nn.Linear(64 * 9, 96), nn.ReLU(),
        )
        self.head = nn.Linear(96, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def run_epoch(model, loader, opt, sched=None):
    model.train()
    tot = 0.0
    for xb, yb in loader:
        opt.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        opt.step()
        if sched is not None:
            sched.step()
        tot += loss.item() * len(yb)
    return tot / len(loader.dataset)


def main():
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)

    # ---- stage 1: garden species, plenty of images
    garden = species_table(N_GARDEN, rng)
    y = rng.integers(0, N_GARDEN, 1600)
    yt = rng.integers(0, N_GARDEN, 400)
    x, xt = draw(garden, y, rng), draw(garden, yt, rng)
    y, yt = torch.from_numpy(y), torch.from_numpy(yt)
    model = LeafNet(N_GARDEN)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
    for ep in range(4):
        loss = run_epoch(model, loader, opt)
        print(f"garden  epoch {ep}  loss {loss:.3f}  acc {accuracy(model, xt, yt):.3f}")

    # ---- stage 2: herbarium species, 40 scans each
    herb = species_table(N_HERB, rng)
    hy = np.repeat(np.arange(N_HERB), 40)
    ht = np.repeat(np.arange(N_HERB), 60)
    hx, htx = draw(herb, hy, rng), draw(herb, ht, rng)
    hy, ht = torch.from_numpy(hy), torch.from_numpy(ht)

    # stem stays as it is, the rest moves slowly
    for p in model.backbone[:8].parameters():
        p.requires_grad_(False)
    epochs, bs = 15, 32
    opt = torch.optim.AdamW([
        {"params": [p for p in model.backbone.parameters() if p.requires_grad], "lr": 2e-4},
        {"params": model.head.parameters(), "lr": 5e-3},
    ], weight_decay=1e-3)
    model.head = nn.Linear(model.head.in_features, N_HERB)
    steps = epochs * math.ceil(len(hy) / bs)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 0.5 * (1 + math.cos(math.pi * s / steps)))
    loader = DataLoader(TensorDataset(hx, hy), batch_size=bs, shuffle=True)
    for ep in range(epochs):
        loss = run_epoch(model, loader, opt, sched)
        if ep % 3 == 2:
            print(f"herbarium  epoch {ep}  loss {loss:.3f}")
    print(f"herbarium test accuracy {accuracy(model, htx, ht):.3f}  (chance {1 / N_HERB:.3f})")


if __name__ == "__main__":
    main()
