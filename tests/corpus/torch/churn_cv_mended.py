"""Five-fold cross-validation of a churn classifier."""
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn


@dataclass
class Config:
    n_customers: int = 1200
    n_features: int = 30
    folds: int = 5
    epochs: int = 40
    batch_size: int = 64
    hidden: int = 128
    lr: float = 2e-3
    seed: int = 5


class ChurnNet(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
        )
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


def make_customers(cfg, n):
    x, y = make_classification(
        n_samples=n, n_features=cfg.n_features, n_informative=6, n_redundant=4,
        n_clusters_per_class=3, class_sep=1.0, flip_y=0.25, random_state=cfg.seed,
    )
    return x.astype(np.float32), y.astype(np.float32)


def train_fold(model, x, y, cfg):
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    criterion = nn.BCEWithLogitsLoss()
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    model.train()
    for _ in range(cfg.epochs):
        for idx in torch.randperm(len(x)).split(cfg.batch_size):
            optimizer.zero_grad()
            loss = criterion(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    pred = (model(torch.from_numpy(x)) > 0).float().numpy()
    return float((pred == y).mean())


def cross_validate(cfg, x, y):
    splitter = StratifiedKFold(cfg.folds, shuffle=True, random_state=cfg.seed)
    scores = []
    for k, (tr, va) in enumerate(splitter.split(x, y)):
        model = ChurnNet(cfg.n_features, cfg.hidden)
        scaler = StandardScaler().fit(x[tr])
        x_tr, x_va = scaler.transform(x[tr]), scaler.transform(x[va])
        last = train_fold(model, x_tr, y[tr], cfg)
        scores.append(accuracy(model, x_va, y[va]))
        print(f"fold {k}: last batch loss {last:.4f}, validation accuracy {scores[-1]:.3f}")
    return scores


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    x, y = make_customers(cfg, cfg.n_customers + 2000)
    x_later, y_later = x[cfg.n_customers :], y[cfg.n_customers :]
    x, y = x[: cfg.n_customers], y[: cfg.n_customers]

    scores = cross_validate(cfg, x, y)
    print(f"majority share      {max(y.mean(), 1 - y.mean()):.3f}")
    print(f"cross-validated acc {np.mean(scores):.3f} +- {np.std(scores):.3f}")

    scaler = StandardScaler().fit(x)
    final = ChurnNet(cfg.n_features, cfg.hidden)
    train_fold(final, scaler.transform(x), y, cfg)
    print(f"accuracy on next quarter {accuracy(final, scaler.transform(x_later), y_later):.3f}")


if __name__ == "__main__":
    main()
