from dataclasses import dataclass
import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    n_users: int = 500
    n_items: int = 400
    n_ratings: int = 80000
    rank: int = 8
    lr: float = 0.005
    decay: float = 1e-5
    epochs: int = 35
    batch: int = 100
    seed: int = 5


cfg = Config()
torch.manual_seed(cfg.seed)
rng = np.random.default_rng(cfg.seed)


def make_ratings(c):
    pu = rng.normal(0, 0.6, (c.n_users, 4))
    qi = rng.normal(0, 0.6, (c.n_items, 4))
    bu = rng.normal(0, 0.4, c.n_users)
    bi = rng.normal(0, 0.6, c.n_items)
    u = rng.integers(0, c.n_users, c.n_ratings)
    i = rng.integers(0, c.n_items, c.n_ratings)
    r = 6.5 + bu[u] + bi[i] + (pu[u] * qi[i]).sum(1) * 1.5 + rng.normal(0, 0.3, c.n_ratings)
    fields = torch.from_numpy(np.stack([u, i], 1)).long()
    return fields, torch.from_numpy(r).float()


class FactorMachine(nn.Module):
    """Second-order factorisation machine over one table that holds every field."""

    def __init__(self, sizes, rank, mean):
        super().__init__()
        total = int(sum(sizes))
        start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self.register_buffer("start", torch.as_tensor(start, dtype=torch.long))
        self.factors = nn.Embedding(total, rank)
        self.linear = nn.Embedding(total, 1)
        self.mean = nn.Parameter(torch.tensor(float(mean)))
        nn.init.normal_(self.factors.weight, std=0.1)
        nn.init.zeros_(self.linear.weight)

    def forward(self, fields):
        idx = fields + self.start
        v = self.factors(idx)
        pair = 0.5 * (v.sum(1).pow(2) - v.pow(2).sum(1)).sum(-1)
        return self.mean + self.linear(idx).squeeze(-1).sum(1) + pair


class Runner:
    def __init__(self, model, c):
        self.model, self.c = model, c
        self.opt = torch.optim.Adam(model.parameters(), lr=c.lr, weight_decay=c.decay)

    def epoch(self, x, y):
        self.model.train()
        tot = 0.0
        for idx in torch.randperm(len(x)).split(self.c.batch):
            loss = nn.functional.mse_loss(self.model(x[idx]), y[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            tot += loss.item() * len(idx)
        return (tot / len(x)) ** 0.5

    @torch.no_grad()
    def rmse(self, x, y):
        self.model.eval()
        return nn.functional.mse_loss(self.model(x), y).sqrt().item()


fields, rating = make_ratings(cfg)
cut = int(0.85 * len(fields))
xtr, ytr, xte, yte = fields[:cut], rating[:cut], fields[cut:], rating[cut:]
model = FactorMachine([cfg.n_users, cfg.n_items], cfg.rank, ytr.mean())
runner = Runner(model, cfg)
print("always the mean:", round((yte - ytr.mean()).pow(2).mean().sqrt().item(), 3))
for e in range(cfg.epochs):
    tr = runner.epoch(xtr, ytr)
    print(f"epoch {e + 1:2d}  train rmse {tr:.3f}  test rmse {runner.rmse(xte, yte):.3f}")
