"""Expected spend of a customer from last month's basket and two profile fields."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    n_items: int = 120
    max_len: int = 20
    dim: int = 24
    lr: float = 3e-3
    epochs: int = 15
    batch: int = 64
    seed: int = 21


def simulate(cfg, n):
    rng = np.random.default_rng(cfg.seed)
    price = rng.gamma(2.0, 2.0, cfg.n_items + 1)
    ids = np.zeros((n, cfg.max_len), dtype=np.int64)
    spend = np.zeros(n)
    profile = rng.normal(size=(n, 2))
    sizes = np.minimum(rng.poisson(6, n), cfg.max_len)
    for r, k in enumerate(sizes):
        basket = rng.integers(1, cfg.n_items + 1, k)
        ids[r, :k] = basket
        top = price[basket].mean() if k else 2.0
        spend[r] = 3.0 * top + 2.0 * profile[r, 0] - profile[r, 1] + rng.normal(0, 0.8)
    return torch.tensor(ids), torch.tensor(profile, dtype=torch.float32), torch.tensor(spend, dtype=torch.float32)


class BasketPool(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.items = nn.Embedding(cfg.n_items + 1, cfg.dim, padding_idx=0)
        self.score = nn.Linear(cfg.dim, 1)

    def forward(self, ids):
        e = self.items(ids)
        s = self.score(e).squeeze(-1)
        s = s.masked_fill(ids == 0, float("-inf"))
        w = torch.softmax(s, dim=1)
        return (w.unsqueeze(-1) * e).sum(1)


class SpendModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.pool = BasketPool(cfg)
        self.mlp = nn.Sequential(nn.Linear(cfg.dim + 2, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, ids, profile):
        return self.mlp(torch.cat([self.pool(ids), profile], dim=1)).squeeze(1)


def r2(pred, true):
    return 1 - ((pred - true) ** 2).mean().item() / true.var(unbiased=False).item()


def train(cfg):
    torch.manual_seed(cfg.seed)
    ids, profile, spend = simulate(cfg, 4000)
    n_train = 3200
    mu, sd = spend[:n_train].mean(), spend[:n_train].std()
    target = (spend - mu) / sd
    model = SpendModel(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=6, gamma=0.3)
    for epoch in range(cfg.epochs):
        model.train()
        seen = []
        for b in torch.randperm(n_train).split(cfg.batch):
            loss = nn.functional.mse_loss(model(ids[b], profile[b]), target[b])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            seen.append(loss.item())
        sched.step()
        model.eval()
        with torch.no_grad():
            pred = model(ids[n_train:], profile[n_train:])
        print(f"epoch {epoch:2d} first batch {seen[0]:.4f} mean {np.mean(seen):.4f} test R2 {r2(pred, target[n_train:]):.3f}")
    rmse = ((pred - target[n_train:]) ** 2).mean().sqrt().item() * sd.item()
    print(f"final test R2 {r2(pred, target[n_train:]):.3f} RMSE {rmse:.3f} (std of spend {spend[n_train:].std():.3f})")


if __name__ == "__main__":
    train(Config())
