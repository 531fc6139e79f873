"""Factorisation machine for shop ratings: user, item, weekday and store are the fields."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    sizes: tuple = (400, 250, 7, 12)
    dim: int = 8
    rows: int = 60000
    batch: int = 256
    epochs: int = 14
    lr: float = 5e-3
    weight_decay: float = 1e-5
    seed: int = 0


def simulate(cfg):
    rng = np.random.default_rng(cfg.seed)
    latent = [rng.normal(0, 1, (n, 4)) for n in cfg.sizes]
    fields = np.stack([rng.integers(0, n, cfg.rows) for n in cfg.sizes], 1)
    u, i, d, s = (latent[k][fields[:, k]] for k in range(4))
    score = 3.0 + 0.55 * (u * i).sum(1) + 0.15 * (i * d).sum(1) + 0.15 * (u * s).sum(1)
    score += rng.normal(0, 0.3, cfg.rows)
    return torch.tensor(fields), torch.tensor(score, dtype=torch.float32)


class FactorMachine(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tables = [nn.Embedding(n, cfg.dim) for n in cfg.sizes]
        for t in self.tables:
            nn.init.normal_(t.weight, std=0.2)
        self.linear = nn.Embedding(sum(cfg.sizes), 1)
        nn.init.zeros_(self.linear.weight)
        self.register_buffer("offsets", torch.tensor([0, *np.cumsum(cfg.sizes)[:-1]]))
        self.bias = nn.Parameter(torch.zeros(1))
        self.mix = nn.Sequential(nn.Linear(cfg.dim, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, fields):
        v = torch.stack([t(fields[:, k]) for k, t in enumerate(self.tables)], 1)
        pair = 0.5 * (v.sum(1) ** 2 - (v**2).sum(1))
        wide = self.linear(fields + self.offsets).sum((1, 2))
        return self.bias + wide + pair.sum(1) + self.mix(pair).squeeze(1)


def rmse(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x) - y).pow(2).mean().sqrt().item()


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    x, y = simulate(cfg)
    cut = int(0.9 * len(x))
    model = FactorMachine(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    print("spread of ratings: %.3f" % y[cut:].std().item())
    for epoch in range(cfg.epochs):
        model.train()
        losses = []
        for idx in torch.randperm(cut).split(cfg.batch):
            loss = nn.functional.mse_loss(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch:2d}  train mse {np.mean(losses):.4f}  test rmse {rmse(model, x[cut:], y[cut:]):.4f}")


if __name__ == "__main__":
    main()
