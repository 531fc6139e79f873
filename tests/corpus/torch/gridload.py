import copy

import numpy as np
import torch
import torch.nn as nn

HORIZONS = [1, 3, 6, 12, 24]
WINDOW = 48


def load_series(length=3000, seed=4):
    rng = np.random.default_rng(seed)
    t = np.arange(length)
    drift = np.zeros(length)
    for i in range(1, length):
        drift[i] = 0.97 * drift[i - 1] + rng.normal(0, 0.08)
    return np.sin(2 * np.pi * t / 24) + 0.5 * np.sin(2 * np.pi * t / 168) + drift + rng.normal(0, 0.08, length)


def windows(series):
    last = len(series) - max(HORIZONS)
    x = np.stack([series[i - WINDOW:i] for i in range(WINDOW, last)])
    y = np.stack([[series[i + h - 1] for h in HORIZONS] for i in range(WINDOW, last)])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class HorizonBalancer:
    def __init__(self, n):
        self.level = torch.ones(n)

    def __call__(self, per_horizon):
        self.level = 0.9 * self.level + 0.1 * per_horizon
        weight = 1.0 / (self.level + 1e-3)
        weight = weight / weight.mean()
        return (weight * per_horizon).mean()


class Forecaster(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gru = nn.GRU(1, width, batch_first=True)
        self.heads = nn.ModuleList([nn.Linear(width, 1) for _ in HORIZONS])

    def forward(self, x):
        h = self.gru(x.unsqueeze(-1))[1][0]
        return torch.cat([head(h) for head in self.heads], dim=1)


class Ensemble:
    def __init__(self, widths, lr=4e-3, epochs=8):
        self.members = [Forecaster(w) for w in widths]
        self.lr = lr
        self.epochs = epochs

    def fit(self, x, y, xv, yv):
        for k, model in enumerate(self.members):
            gen = torch.Generator().manual_seed(k)
            balancer = HorizonBalancer(len(HORIZONS))
            opt = torch.optim.Adam(model.parameters(), lr=self.lr)
            best, kept = float("inf"), None
            for epoch in range(self.epochs):
                for idx in torch.randperm(len(x), generator=gen).split(64):
                    err = (model(x[idx]) - y[idx]).pow(2).mean(dim=0)
                    loss = balancer(err)
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
                score = self.error(model(xv).detach(), yv).mean().item()
                if score < best:
                    best, kept = score, copy.deepcopy(model.state_dict())
            model.load_state_dict(kept)
            print(f"member {k} valid MAE {best:.4f}")

    @staticmethod
    def error(pred, y):
        return (pred - y).abs().mean(dim=0)

    @torch.no_grad()
    def predict(self, x):
        return torch.stack([m(x) for m in self.members]).mean(0)


if __name__ == "__main__":
    torch.manual_seed(0)
    series = load_series()
    a, b = 2000, 2400
    mean, std = series[:a].mean(), series[:a].std()
    series = (series - mean) / std
    x, y = windows(series[:a])
    xv, yv = windows(series[a:b])
    xt, yt = windows(series[b:])
    ensemble = Ensemble([24, 32, 40])
    ensemble.fit(x, y, xv, yv)
    ours = Ensemble.error(ensemble.predict(xt), yt)
    naive = Ensemble.error(xt[:, -1:].expand_as(yt), yt)
    for h, e, n in zip(HORIZONS, ours, naive):
        print(f"h={h:2d} MAE {e:.3f} (last value {n:.3f})")
    print(f"mean MAE {ours.mean():.3f} (last value {naive.mean():.3f})")
