from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    sensors: int = 20
    latent: int = 6
    hidden: list = field(default_factory=lambda: [64, 32])
    lr: float = 3e-3
    epochs: int = 10
    batch_size: int = 64
    shuffle: bool = True
    seed: int = 7


class Plant:
    def __init__(self, cfg):
        self.rng = np.random.default_rng(cfg.seed)
        self.n = cfg.sensors
        self.mix = self.rng.normal(0, 0.7, (5, 3, self.n))
        self.level = self.rng.normal(0, 1.5, (5, self.n))

    def run_mode(self, mode, count):
        z = self.rng.normal(size=(count, 3))
        return self.level[mode] + np.tanh(z @ self.mix[mode]) + self.rng.normal(0, 0.1, (count, self.n))

    def log(self, per_mode):
        return np.concatenate([self.run_mode(m, per_mode) for m in range(5)]).astype(np.float32)

    def faulty(self, per_mode):
        x = self.log(per_mode)
        for row in x:
            hit = self.rng.choice(self.n, 3, replace=False)
            row[hit] += self.rng.choice([-1, 1], 3) * self.rng.uniform(0.8, 1.8, 3)
        return x


class AutoEncoder(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        a, b = cfg.hidden
        self.enc = nn.Sequential(
            nn.Linear(cfg.sensors, a), nn.BatchNorm1d(a), nn.ReLU(),
            nn.Linear(a, b), nn.BatchNorm1d(b), nn.ReLU(), nn.Linear(b, cfg.latent))
        self.dec = nn.Sequential(
            nn.Linear(cfg.latent, b), nn.ReLU(), nn.Linear(b, a), nn.ReLU(), nn.Linear(a, cfg.sensors))

    def forward(self, x):
        return self.dec(self.enc(x))


def train(model, data, cfg):
    loader = DataLoader(TensorDataset(data), batch_size=cfg.batch_size, shuffle=cfg.shuffle)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        model.train()
        total = 0.0
        for (x,) in loader:
            loss = (model(x) - x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(x)
        print(f"epoch {epoch} reconstruction {total / len(data):.4f}")


@torch.no_grad()
def residual(model, x):
    model.eval()
    return (model(x) - x).pow(2).mean(1).numpy()


def main(cfg):
    torch.manual_seed(cfg.seed)
    plant = Plant(cfg)
    normal = plant.log(2000)
    mean, std = normal.mean(0), normal.std(0)
    prep = lambda a: torch.from_numpy((a - mean) / std)
    model = AutoEncoder(cfg)
    train(model, prep(normal), cfg)
    ok, bad = residual(model, prep(plant.log(200))), residual(model, prep(plant.faulty(200)))
    scores = np.concatenate([ok, bad])
    truth = np.r_[np.zeros(len(ok)), np.ones(len(bad))]
    print(f"test reconstruction {ok.mean():.4f}")
    print(f"anomaly AUC {roc_auc_score(truth, scores):.3f}")


if __name__ == "__main__":
    main(Config())
