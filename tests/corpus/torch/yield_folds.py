from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, train_test_split


@dataclass
class Settings:
    folds: int = 5
    epochs: int = 40
    batch: int = 32
    width: int = 96
    lr: float = 2e-3
    seed: int = 0


def build(cfg, n_in):
    return nn.Sequential(
        nn.Linear(n_in, cfg.width), nn.ReLU(),
        nn.Linear(cfg.width, cfg.width), nn.ReLU(),
        nn.Linear(cfg.width, 1),
    )


class Standardizer:
    def fit(self, x, y):
        self.mx, self.sx = x.mean(0), x.std(0) + 1e-8
        self.my, self.sy = y.mean(), y.std()
        return self

    def x(self, x):
        return torch.tensor((x - self.mx) / self.sx, dtype=torch.float32)

    def y(self, y):
        return torch.tensor((y - self.my) / self.sy, dtype=torch.float32)

    def back(self, t):
        return t.numpy() * self.sy + self.my


def train_model(model, x, y, cfg):
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    model.train()
    for _ in range(cfg.epochs):
        order = torch.randperm(len(x))
        for idx in order.split(cfg.batch):
            pred = model(x[idx]).squeeze(1)
            loss = nn.functional.mse_loss(pred, y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return loss.item()


def predict(model, x):
    model.eval()
    with torch.no_grad():
        return model(x).squeeze(1)


def cross_validate(X, y, cfg):
    scores = []
    splitter = KFold(cfg.folds, shuffle=True, random_state=cfg.seed)
    model = build(cfg, X.shape[1])
    for fold, (tr, va) in enumerate(splitter.split(X)):
        sc = Standardizer().fit(X[tr], y[tr])
        last = train_model(model, sc.x(X[tr]), sc.y(y[tr]), cfg)
        r2 = r2_score(y[va], sc.back(predict(model, sc.x(X[va]))))
        print(f"fold {fold}  last batch loss {last:.3f}  validation R2 {r2:.3f}")
        scores.append(r2)
    return scores


def final_fit(X, y, X_hold, cfg):
    sc = Standardizer().fit(X, y)
    model = build(cfg, X.shape[1])
    train_model(model, sc.x(X), sc.y(y), cfg)
    return sc.back(predict(model, sc.x(X_hold)))


def main():
    cfg = Settings()
    torch.manual_seed(cfg.seed)
    np.random.seed(cfg.seed)
    X, y = make_friedman1(n_samples=700, n_features=12, noise=1.5, random_state=cfg.seed)
    X, X_hold, y, y_hold = train_test_split(X, y, test_size=0.25, random_state=cfg.seed)

    scores = cross_validate(X, y, cfg)
    hold = final_fit(X, y, X_hold, cfg)
    print(f"cross-validated R2 {np.mean(scores):.3f} +- {np.std(scores):.3f}")
    print(f"untouched holdout R2 {r2_score(y_hold, hold):.3f}")


if __name__ == "__main__":
    main()
