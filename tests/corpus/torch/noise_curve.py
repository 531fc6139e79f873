"""Heteroscedastic regression on a sensor series: the network predicts mean and log-variance."""
import math

import numpy as np
import torch
from torch import nn

WINDOW = 24


class GaussianForecaster(nn.Module):
    def __init__(self, window, hidden=64):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Linear(window, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.mean = nn.Linear(hidden, 1)
        self.log_var = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h).squeeze(-1), self.log_var(h).squeeze(-1).clamp(-10, 4)


def gaussian_nll(mean, log_var, y):
    return 0.5 * (log_var + (y - mean) ** 2 * torch.exp(-log_var)).mean()


def sensor(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = np.sin(2 * math.pi * t / 48)
    noise = np.where(level > 0, 0.15, 0.02)
    return (level + noise * rng.standard_normal(n)).astype(np.float32)


def windows(series):
    w = torch.from_numpy(series).unfold(0, WINDOW + 1, 1)
    return w[:, :-1].contiguous(), w[:, -1].contiguous()


def run(model, x, y, epochs, size=64):
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    plan = torch.optim.lr_scheduler.OneCycleLR(
        opt, max_lr=4e-3, epochs=epochs, steps_per_epoch=math.ceil(len(x) / size)
    )
    for epoch in range(epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(size):
            loss = gaussian_nll(*model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            plan.step()
            total += loss.item() * len(idx)
        if epoch % 5 == 0 or epoch == epochs - 1:
            print(f"epoch {epoch:2d} loss {total / len(x):.4f}")


def main():
    torch.manual_seed(0)
    series = sensor(4000)
    x_tr, y_tr = windows(series[:3200])
    x_te, y_te = windows(series[3200:])
    model = GaussianForecaster(WINDOW)
    run(model, x_tr, y_tr, epochs=25)

    model.eval()
    with torch.no_grad():
        mean, log_var = model(x_te)
        nll = gaussian_nll(mean, log_var, y_te).item()
        inside = ((y_te - mean).abs() < 2 * torch.exp(0.5 * log_var)).float().mean().item()
        flat = gaussian_nll(y_tr.mean(), y_tr.var().log(), y_te).item()
        rmse = ((mean - y_te) ** 2).mean().sqrt().item()
        hold = ((x_te[:, -1] - y_te) ** 2).mean().sqrt().item()
    print(f"test loss {nll:.4f} (constant Gaussian {flat:.4f})")
    print(f"test rmse {rmse:.4f} (persistence {hold:.4f}), share within 2 sd {inside:.3f}")


if __name__ == "__main__":
    main()
