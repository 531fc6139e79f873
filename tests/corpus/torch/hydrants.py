"""Predict the static pressure at a hydrant from the network survey."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    rows: int = 1600
    hidden: int = 48
    lr: float = 3e-3
    epochs: int = 25
    batch: int = 64
    seed: int = 3


def survey(n, rng):
    elevation = rng.uniform(10, 140, n)
    diameter = rng.choice([80, 100, 150, 200], n).astype(float)
    age = rng.gamma(3.0, 9.0, n)
    distance = rng.exponential(1.8, n)
    pumped = rng.integers(0, 2, n).astype(float)
    bar = 7.5 - 0.03 * elevation + 0.006 * diameter - 0.35 * distance * (150 / diameter) ** 0.5 + 1.4 * pumped - 0.008 * age
    bar = bar + rng.normal(0, 0.25, n)
    x = np.stack([elevation, diameter, age, distance, pumped], 1)
    x = (x - x.mean(0)) / x.std(0)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(bar, dtype=torch.float32)


def main(cfg):
    torch.manual_seed(cfg.seed)
    x, y = survey(cfg.rows, np.random.default_rng(cfg.seed))
    data = TensorDataset(x, y)
    train, val = random_split(data, [cfg.rows - 400, 400])
    loader = DataLoader(train, batch_size=cfg.batch, shuffle=True)
    val_loader = DataLoader(val, batch_size=256)

    model = nn.Sequential(nn.Linear(5, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, 1))
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=3, verbose=True)

    for epoch in range(cfg.epochs):
        model.train()
        running = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb).squeeze(1), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
        model.eval()
        with torch.no_grad():
            pred = torch.cat([model(xb).squeeze(1) for xb, _ in val_loader])
            true = torch.cat([yb for _, yb in val_loader])
            val_loss = criterion(pred, true).item()
        scheduler.step(val_loss)
        print(f"epoch {epoch + 1:2d} train {running / len(train):.4f} val {val_loss:.4f}")
    r2 = 1 - ((pred - true) ** 2).sum() / ((true - true.mean()) ** 2).sum()
    print(f"R2 {r2.item():.3f}")


if __name__ == "__main__":
    main(Config())
