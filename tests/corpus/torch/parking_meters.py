"""Forecast the occupancy band of a parking zone for the next hour from the last day of meter counts."""
from __future__ import annotations

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Config:
    seed: int = 17
    n_zones: int = 12
    days: int = 40
    window: int = 24
    hidden: int = 48
    batch_size: int = 64
    epochs: int = 8
    lr: float = 0.03
    momentum: float = 0.9
    weight_decay: float = 1e-4
    patience: int = 4


def simulate(cfg: Config) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(cfg.seed)
    hours = np.arange(cfg.days * 24)
    windows, bands = [], []
    for _ in range(cfg.n_zones):
        peak = rng.uniform(9, 18)
        width = rng.uniform(2.5, 5)
        base = np.exp(-(((hours % 24) - peak) ** 2) / (2 * width**2))
        weekend = np.where((hours // 24) % 7 >= 5, rng.uniform(0.3, 0.8), 1.0)
        level = np.clip(0.1 + 0.8 * base * weekend + 0.04 * rng.standard_normal(len(hours)), 0, 1)
        for t in range(cfg.window, len(hours)):
            hour = hours[t] % 24
            clock = np.array([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)])
            windows.append(np.concatenate([(level[t - cfg.window:t] - 0.4) / 0.3, clock]))
            bands.append(np.digitize(level[t], [0.15, 0.3, 0.55]))
    return torch.tensor(np.array(windows), dtype=torch.float32), torch.tensor(np.array(bands))


class BandNet(nn.Module):
    def __init__(self, window: int, hidden: int, n_bands: int = 4) -> None:
        super().__init__()
        self.series = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2), nn.ReLU(),
            nn.Conv1d(16, 16, 5, padding=2), nn.ReLU(), nn.Flatten())
        self.head = nn.Sequential(
            nn.Linear(16 * window + 2, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, n_bands))
        self.window = window

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        series, clock = x[:, : self.window], x[:, self.window :]
        return self.head(torch.cat([self.series(series.unsqueeze(1)), clock], dim=1))


class Fitter:
    def __init__(self, cfg: Config, model: nn.Module, out: Path) -> None:
        self.cfg, self.model, self.out = cfg, model, out
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.model.to(self.device)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(
            model.parameters(), lr=cfg.lr, momentum=cfg.momentum, weight_decay=cfg.weight_decay)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.epochs)
        self.history: list[dict[str, float]] = []

    def train_epoch(self, loader: DataLoader) -> float:
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for x, y in loader:
            x, y = x.to(self.device), y.to(self.device)
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(y)
        self.scheduler.step()
        return total / len(loader.dataset)

    @torch.no_grad()
    def evaluate(self, loader: DataLoader) -> tuple[float, float]:
        self.model.eval()
        total, hit = 0.0, 0
        for x, y in loader:
            x, y = x.to(self.device), y.to(self.device)
            logits = self.model(x)
            total += self.criterion(logits, y).item() * len(y)
            hit += int((logits.argmax(1) == y).sum())
        return total / len(loader.dataset), hit / len(loader.dataset)

    def fit(self, train: DataLoader, val: DataLoader) -> None:
        best, waited = float("inf"), 0
        for epoch in range(self.cfg.epochs):
            train_loss = self.train_epoch(train)
            val_loss, val_acc = self.evaluate(val)
            self.history.append({"epoch": epoch, "train": train_loss, "val": val_loss, "acc": val_acc})
            print(f"epoch {epoch}: train {train_loss:.4f} val {val_loss:.4f} acc {val_acc:.3f}")
            if val_loss < best:
                best, waited = val_loss, 0
                torch.save(self.model.state_dict(), self.out / "model.pt")
            else:
                waited += 1
                if waited >= self.cfg.patience:
                    print("stopping early")
                    break
        (self.out / "history.json").write_text(json.dumps({"config": asdict(self.cfg), "history": self.history}))


def main() -> None:
    cfg = Config()
    torch.manual_seed(cfg.seed)
    x, y = simulate(cfg)
    data = TensorDataset(x, y)
    n_val = len(data) // 5
    train_set, val_set = random_split(data, [len(data) - n_val, n_val])
    train = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
    val = DataLoader(val_set, batch_size=256)
    with tempfile.TemporaryDirectory() as tmp:
        fitter = Fitter(cfg, BandNet(cfg.window, cfg.hidden), Path(tmp))
        fitter.fit(train, val)
        fitter.model.load_state_dict(torch.load(Path(tmp) / "model.pt"))
        loss, acc = fitter.evaluate(val)
        print(f"restored best: val {loss:.4f} acc {acc:.3f} majority {y.bincount().max().item() / len(y):.3f}")


if __name__ == "__main__":
    main()
