"""Predict a solar farm's hourly output from the weather."""
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 8
    hidden: int = 64
    batch_size: int = 64
    epochs: int = 30
    lr: float = 4e-3
    scheduler: dict = field(default_factory=lambda: {
        "mode": "min",
        "factor": 0.5,
        "patience": 3,
        "min_lr": 1e-5,
        "verbose": True,
    })


def make_weather(n, rng):
    hour = rng.uniform(0, 24, n)
    cloud = rng.beta(2, 2, n)
    temp = rng.normal(15, 8, n)
    dust = rng.exponential(0.2, n)
    sun = np.clip(np.sin((hour - 6) / 12 * np.pi), 0, None)
    power = sun * (1 - 0.75 * cloud ** 2) * (1 - 0.004 * (temp - 25)) * np.exp(-dust) + rng.normal(0, 0.02, n)
    x = np.stack([np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), cloud, temp, dust], 1)
    x = (x - x.mean(0)) / x.std(0)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(power, dtype=torch.float32).unsqueeze(1)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = nn.Sequential(
            nn.Linear(5, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, 1)
        )
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=1e-4)
        self.scheduler = ReduceLROnPlateau(self.optimizer, **cfg.scheduler)
        self.loss = nn.SmoothL1Loss(beta=0.1)

    def epoch(self, loader):
        self.model.train()
        total = 0.0
        for x, y in loader:
            self.optimizer.zero_grad(set_to_none=True)
            loss = self.loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, x, y):
        self.model.eval()
        pred = self.model(x)
        r2 = 1 - ((pred - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
        return self.loss(pred, y).item(), r2.item()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    x, y = make_weather(3000, np.random.default_rng(cfg.seed))
    train = DataLoader(TensorDataset(x[:2400], y[:2400]), batch_size=cfg.batch_size, shuffle=True)
    trainer = Trainer(cfg)
    for epoch in range(cfg.epochs):
        train_loss = trainer.epoch(train)
        val_loss, r2 = trainer.evaluate(x[2400:], y[2400:])
        trainer.scheduler.step(val_loss)
        if epoch % 5 == 4:
            print(f"{epoch + 1:3d} train {train_loss:.4f} val {val_loss:.4f} r2 {r2:.3f}")


if __name__ == "__main__":
    main()
