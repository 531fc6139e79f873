from dataclasses import dataclass

import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    n_train: int = 300
    n_val: int = 300
    n_test: int = 2000
    sensors: int = 24
    width: int = 320
    lr: float = 3e-4
    batch: int = 25
    max_epochs: int = 500
    patience: int = 250
    seed: int = 8


def sensors_and_output(n, cfg, rng):
    x = rng.normal(size=(n, cfg.sensors)).astype(np.float32)
    clean = 2.0 * x[:, 0] - 1.5 * x[:, 1] + np.sin(2 * x[:, 2]) + 0.8 * x[:, 3] * (x[:, 4] > 0) + 1.2 * x[:, 5]
    return torch.from_numpy(x), torch.from_numpy((clean + 1.2 * rng.normal(size=n)).astype(np.float32))


class EarlyStopping:
    """Remembers the weights of the best validation epoch."""

    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.best_epoch = -1
        self.weights = None

    def update(self, epoch, value, model):
        if value < self.best:
            self.best = value
            self.best_epoch = epoch
            self.weights = {k: v.clone() for k, v in model.state_dict().items()}
        return epoch - self.best_epoch >= self.patience


def make_model(cfg):
    return nn.Sequential(
        nn.Linear(cfg.sensors, cfg.width), nn.SiLU(),
        nn.Linear(cfg.width, cfg.width), nn.SiLU(),
        nn.Linear(cfg.width, 1), nn.Flatten(0),
    )


def mse(model, x, y):
    model.eval()
    with torch.no_grad():
        return nn.functional.mse_loss(model(x), y).item()


def fit(cfg):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    xt, yt = sensors_and_output(cfg.n_train, cfg, rng)
    xv, yv = sensors_and_output(cfg.n_val, cfg, rng)
    xs, ys = sensors_and_output(cfg.n_test, cfg, rng)
    model = make_model(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    stopper = EarlyStopping(cfg.patience)
    for epoch in range(cfg.max_epochs):
        model.train()
        order = torch.randperm(len(xt))
        for idx in order.split(cfg.batch):
            loss = nn.functional.mse_loss(model(xt[idx]), yt[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        val = mse(model, xv, yv)
        if epoch % 25 == 0:
            print(f"{epoch:4d} train {mse(model, xt, yt):.3f} val {val:.3f}")
        if stopper.update(epoch, val, model):
            print("no progress, stopping at", epoch)
            break
    print(f"best val {stopper.best:.3f} at epoch {stopper.best_epoch}; target variance {ys.var():.3f}")
    model.load_state_dict(stopper.weights)
    print(f"restored model: val {mse(model, xv, yv):.3f} test {mse(model, xs, ys):.3f}")
    return model


if __name__ == "__main__":
    fit(Config())
