"""Grade oysters (4 trade grades) from a weighing belt with shape sensors."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    rows: int = 2400
    batch: int = 64
    epochs: int = 12
    lr: float = 2e-3
    seed: int = 4


GRADES = ["spat", "cocktail", "standard", "select"]


def belt_data(cfg):
    rng = np.random.default_rng(cfg.seed)
    grade = rng.integers(0, 4, cfg.rows)
    length = 4.0 + 1.7 * grade + rng.normal(0, 0.5, cfg.rows)
    depth = 0.32 * length + rng.normal(0, 0.3, cfg.rows)
    weight = 0.9 * length * depth + rng.normal(0, 2.0, cfg.rows)
    cup = rng.normal(0, 1, cfg.rows) + 0.5 * (grade == 3)
    water = rng.normal(12, 2, cfg.rows)
    x = np.stack([length, depth, weight, cup, water], 1)
    x = (x - x.mean(0)) / x.std(0)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(grade)


def make_loader(x, y, cfg, shuffle=True):
    return DataLoader(TensorDataset(x, y), batch_size=cfg.batch, shuffle=shuffle)


@torch.no_grad()
def predict(model, loader):
    model.eval()
    out = [model(xb).argmax(1) for xb, _ in loader]
    model.train()
    return torch.cat(out)


def report(pred, truth):
    for g, name in enumerate(GRADES):
        hit = ((pred == g) & (truth == g)).sum().item()
        prec = hit / max((pred == g).sum().item(), 1)
        rec = hit / max((truth == g).sum().item(), 1)
        print(f"{name:10s} precision {prec:.3f}  recall {rec:.3f}")


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    x, y = belt_data(cfg)
    cut = int(0.8 * len(x))
    train_loader = make_loader(x[:cut], y[:cut], cfg)
    val_loader = make_loader(x[cut:], y[cut:], cfg)

    model = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Dropout(0.1), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 4))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(cfg.epochs):
        total = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(xb)
        pred = predict(model, val_loader)
        truth = torch.cat([yb for _, yb in val_loader])
        acc = (pred == truth).float().mean().item()
        print(f"epoch {epoch + 1:2d}  train loss {total / cut:.4f}  val accuracy {acc:.3f}")
    report(pred, truth)


if __name__ == "__main__":
    main()
