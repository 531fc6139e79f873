"""Weekly sales of a product in a store: entity embeddings + numeric features."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    n_stores: int = 60
    n_items: int = 80
    emb_dim: int = 8
    hidden: int = 48
    lr_tables: float = 0.2
    lr_dense: float = 2e-3
    batch_size: int = 256
    epochs: int = 12
    seed: int = 5


def simulate(cfg):
    rng = np.random.default_rng(cfg.seed)
    n = 16000
    store = rng.integers(0, cfg.n_stores, n)
    item = rng.integers(0, cfg.n_items, n)
    promo = rng.integers(0, 2, n)
    season = rng.uniform(0, 2 * np.pi, n)
    store_level = rng.normal(0, 1.0, cfg.n_stores)
    item_level = rng.normal(0, 1.0, cfg.n_items)
    item_promo = rng.uniform(0, 1.2, cfg.n_items)
    y = (store_level[store] + item_level[item] + promo * item_promo[item]
         + 0.5 * np.sin(season) + rng.normal(0, 0.3, n))
    num = np.stack([promo, np.sin(season), np.cos(season)], 1)
    cat = torch.from_numpy(np.stack([store, item], 1))
    return cat, torch.tensor(num, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class SalesNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(cfg.n_stores, cfg.emb_dim),
                                     nn.Embedding(cfg.n_items, cfg.emb_dim)])
        self.body = nn.Sequential(nn.Linear(2 * cfg.emb_dim + 3, cfg.hidden), nn.ReLU(),
                                  nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
                                  nn.Linear(cfg.hidden, 1))

    def forward(self, cat, num):
        looked_up = [table(cat[:, i]) for i, table in enumerate(self.tables)]
        return self.body(torch.cat(looked_up + [num], 1)).squeeze(1)


class Forecaster:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.net = SalesNet(cfg)
        self.opt_tables = torch.optim.SGD(self.net.tables.parameters(), lr=cfg.lr_tables, momentum=0.9)
        self.opt_dense = torch.optim.Adam(self.net.body.parameters(), lr=cfg.lr_dense)
        self.loss_fn = nn.MSELoss()

    def _step(self, cat, num, y):
        loss = self.loss_fn(self.net(cat, num), y)
        self.opt_tables.zero_grad()
        self.opt_dense.zero_grad()
        loss.backward()
        self.opt_tables.step()
        self.opt_dense.step()
        return loss.item()

    def fit(self, cat, num, y):
        for epoch in range(1, self.cfg.epochs + 1):
            order = torch.randperm(len(y))
            losses = [self._step(cat[b], num[b], y[b]) for b in order.split(self.cfg.batch_size)]
            print(f"epoch {epoch:2d} mse {np.mean(losses):.4f}")
        return self

    @torch.no_grad()
    def score(self, cat, num, y):
        self.net.eval()
        rmse = (self.net(cat, num) - y).pow(2).mean().sqrt().item()
        self.net.train()
        return rmse


if __name__ == "__main__":
    cfg = Config()
    cat, num, y = simulate(cfg)
    cut = 13000
    model = Forecaster(cfg).fit(cat[:cut], num[:cut], y[:cut])
    base = (y[cut:] - y[:cut].mean()).pow(2).mean().sqrt().item()
    print(f"test rmse {model.score(cat[cut:], num[cut:], y[cut:]):.4f}  mean-predictor rmse {base:.4f}")
