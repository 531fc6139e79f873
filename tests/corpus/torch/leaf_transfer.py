"""Pre-train a small conv net on many leaf patterns, then move it to a new set of species."""
import argparse
import random

import numpy as np
import torch
from torch import nn


def leaf_batch(n, species, gen):
    """Stripe patterns: each species has its own direction and spacing."""
    y = gen.integers(0, len(species), n)
    grid = np.stack(np.meshgrid(np.arange(16), np.arange(16), indexing="ij"), 0).astype("float32")
    x = np.empty((n, 1, 16, 16), "float32")
    for i, k in enumerate(y):
        ang, freq = species[k]
        phase = gen.uniform(0, 2 * np.pi)
        wave = np.sin(freq * (np.cos(ang) * grid[0] + np.sin(ang) * grid[1]) + phase)
        x[i, 0] = wave + gen.normal(0, 0.7, (16, 16))
    return torch.from_numpy(x), torch.from_numpy(y)


class Backbone(nn.Sequential):
    def __init__(self, width=24):
        super().__init__(
            nn.Conv2d(1, width, 5, padding=2), nn.GroupNorm(6, width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(6, width), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        )


class LeafNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(24, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def run_epochs(model, optimizer, x, y, epochs, bs, tag, val):
    loss_fn = nn.CrossEntropyLoss()
    for ep in range(epochs):
        model.train()
        order = torch.randperm(len(x))
        total = 0.0
        for i in range(0, len(x), bs):
            idx = order[i:i + bs]
            optimizer.zero_grad()
            loss = loss_fn(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        print(f"[{tag}] epoch {ep + 1} loss {total / len(x):.4f} val acc {accuracy(model, *val):.3f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--tune-epochs", type=int, default=12)
    ap.add_argument("--bs", type=int, default=64)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    gen = np.random.default_rng(args.seed)

    old = [(np.pi * k / 6, f) for k in range(6) for f in (0.8, 1.6)]
    new = [(np.pi * (k + 0.5) / 8, 1.2) for k in range(8)]

    model = LeafNet(len(old))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    run_epochs(model, optimizer, *leaf_batch(3000, old, gen), args.epochs, args.bs, "pretrain",
               leaf_batch(600, old, gen))

    for p in model.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    model.head = nn.Linear(24, len(new))

    run_epochs(model, optimizer, *leaf_batch(1500, new, gen), args.tune_epochs, args.bs, "tune",
               leaf_batch(600, new, gen))


if __name__ == "__main__":
    main()
