import math
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Config:
    n: int = 6000
    hidden: int = 64
    lr: float = 2e-3
    epochs: int = 25
    batch: int = 128
    seed: int = 8


class HeatData:
    """Yearly heating need of a house from its plan and site."""

    columns = ["area", "walls_u", "windows", "outside_temp", "people", "storeys", "age", "attic"]

    def __init__(self, cfg):
        g = np.random.default_rng(cfg.seed)
        area = g.uniform(40, 260, cfg.n)
        u = g.uniform(0.15, 1.8, cfg.n)
        win = g.uniform(0.1, 0.5, cfg.n)
        temp = g.normal(8, 4, cfg.n)
        people = g.integers(1, 7, cfg.n)
        storeys = g.integers(1, 4, cfg.n)
        age = g.uniform(0, 90, cfg.n)
        attic = g.integers(0, 2, cfg.n)
        need = (area * u * (20 - temp) * 0.08 * (1 + win) / np.sqrt(storeys)
                - 9 * people + 0.4 * age + 25 * attic + g.normal(0, 6, cfg.n))
        x = np.stack([area, u, win, temp, people, storeys, age, attic], 1)
        cut = int(cfg.n * 0.8)
        self.xm, self.xs = x[:cut].mean(0), x[:cut].std(0)
        self.ym, self.ys = need[:cut].mean(), need[:cut].std()
        x = torch.tensor((x - self.xm) / self.xs, dtype=torch.float32)
        y = torch.tensor((need - self.ym) / self.ys, dtype=torch.float32)
        self.train = (x[:cut], y[:cut])
        self.test = (x[cut:], y[cut:])


class Regressor(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU(), nn.Linear(h, 1))

    def forward(self, x):
        return self.body(x)


class Fitter:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.data = HeatData(cfg)
        self.net = Regressor(len(HeatData.columns), cfg.hidden)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=cfg.lr)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, cfg.epochs)

    def step(self, xb, yb):
        pred = self.net(xb)
        loss = ((pred - yb) ** 2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def test_error(self):
        x, y = self.data.test
        pred = self.net(x).squeeze(1)
        rmse = math.sqrt(((pred - y) ** 2).mean().item()) * self.data.ys
        r2 = 1 - ((pred - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        return rmse, r2.item()

    def fit(self):
        x, y = self.data.train
        for ep in range(1, self.cfg.epochs + 1):
            losses = [self.step(x[i], y[i]) for i in torch.randperm(len(x)).split(self.cfg.batch)]
            self.sched.step()
            if ep % 5 == 0 or ep == 1:
                rmse, r2 = self.test_error()
                print(f"epoch {ep:3d} mse {np.mean(losses):.4f} test rmse {rmse:.1f} kWh/m2 r2 {r2:.3f}")


if __name__ == "__main__":
    Fitter(Config()).fit()
