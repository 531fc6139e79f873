"""River-bend classifier: is a meander about to be cut off? Five-fold cross-validation over surveyed reaches."""
import argparse
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    folds: int = 5
    epochs: int = 25
    batch: int = 64
    width: int = 48
    lr: float = 3e-3
    seed: int = 11


def survey(n, rng):
    """Sinuosity, slope, discharge, bank strength, neck width, bed grain ..."""
    x = rng.normal(size=(n, 10)).astype("float32")
    drive = 1.4 * x[:, 0] * x[:, 4] - 1.1 * np.abs(x[:, 2]) + 0.9 * x[:, 3] + 0.8 * np.sin(2 * x[:, 5])
    y = np.digitize(drive, [-1.2, 0.4])
    return torch.tensor(x), torch.tensor(y)


class ReachNet(nn.Module):
    def __init__(self, n_in, width, n_out=3):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, width), nn.GELU(), nn.Dropout(0.05), nn.Linear(width, width), nn.GELU()
        )
        self.out = nn.Linear(width, n_out)

    def forward(self, x):
        return self.out(self.body(x))


class Experiment:
    def __init__(self, cfg, n_in):
        self.cfg = cfg
        self.n_in = n_in
        self.criterion = nn.CrossEntropyLoss()
        self.model = self.build()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.cfg.lr, weight_decay=1e-3)

    def build(self):
        return ReachNet(self.n_in, self.cfg.width)

    def reset(self, fold):
        torch.manual_seed(self.cfg.seed + fold)
        self.model = self.build()

    def fit(self, x, y):
        for epoch in range(self.cfg.epochs):
            self.model.train()
            total = 0.0
            for idx in torch.randperm(len(x)).split(self.cfg.batch):
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(x[idx]), y[idx])
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.optimizer.step()
                total += loss.item() * len(idx)
        return total / len(x)

    @torch.no_grad()
    def score(self, x, y):
        self.model.eval()
        return (self.model(x).argmax(1) == y).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=25)
    args = parser.parse_args()
    cfg = Config(folds=args.folds, epochs=args.epochs)

    rng = np.random.default_rng(cfg.seed)
    torch.manual_seed(cfg.seed)
    x, y = survey(1500, rng)
    parts = np.array_split(rng.permutation(len(x)), cfg.folds)
    exp = Experiment(cfg, x.shape[1])

    scores = []
    for k, held_out in enumerate(parts):
        rest = np.concatenate([p for j, p in enumerate(parts) if j != k])
        exp.reset(k)
        mean, std = x[rest].mean(0), x[rest].std(0)
        loss = exp.fit((x[rest] - mean) / std, y[rest])
        scores.append(exp.score((x[held_out] - mean) / std, y[held_out]))
        print(f"fold {k}: train loss {loss:.3f}  accuracy {scores[-1]:.3f}")
    print(f"cv accuracy {np.mean(scores):.3f} +- {np.std(scores):.3f}")


if __name__ == "__main__":
    main()
