import math

import numpy as np
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

ACCUMULATE = 4
PASSES = 50


def load_series(n=2500, seed=6):
    rng = np.random.default_rng(seed)
    hour = np.arange(n)
    level = 20 + 6 * np.sin(2 * np.pi * hour / 24) + 2 * np.sin(2 * np.pi * hour / 168)
    noise = (0.15 + 0.6 * (np.sin(2 * np.pi * hour / 24) > 0)) * rng.standard_normal(n)
    return (level + noise).astype(np.float32)


def windows(series, lag):
    X = np.lib.stride_tricks.sliding_window_view(series, lag)[:-1]
    return torch.tensor(X.copy()), torch.tensor(series[lag:]).unsqueeze(1)


class Forecaster(nn.Module):
    def __init__(self, lag, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(lag, width), nn.ReLU(), nn.Dropout(0.02),
                                  nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.02))
        self.mean = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h).clamp(-8, 4)


def nll(mean, log_var, y):
    return (0.5 * (log_var + (y - mean) ** 2 / log_var.exp())).mean()


def train(model, X, y, epochs=30, batch=16):
    opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
    for epoch in range(epochs):
        model.train()
        batches = torch.randperm(len(X)).split(batch)
        batches = batches[:len(batches) // ACCUMULATE * ACCUMULATE]
        total = 0.0
        opt.zero_grad()
        for i, idx in enumerate(batches, start=1):
            loss = nll(*model(X[idx]), y[idx])
            (loss / ACCUMULATE).backward()
            total += loss.item()
            if i % ACCUMULATE == 0:
                opt.step()
                opt.zero_grad()
        sched.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: nll {total / len(batches):.3f}")


@torch.no_grad()
def predict_with_spread(model, X):
    model.train()
    means, variances = [], []
    for _ in range(PASSES):
        m, lv = model(X)
        means.append(m)
        variances.append(lv.exp())
    means, variances = torch.stack(means), torch.stack(variances)
    return means.mean(0), (variances.mean(0) + means.var(0)).sqrt()


if __name__ == "__main__":
    torch.manual_seed(6)
    series = load_series()
    cut = 2000
    scaler = StandardScaler().fit(series[:cut, None])
    z = scaler.transform(series[:, None]).ravel().astype(np.float32)
    X_train, y_train = windows(z[:cut], lag=48)
    X_test, y_test = windows(z[cut - 48:], lag=48)
    model = Forecaster(lag=48)
    train(model, X_train, y_train)
    mean, std = predict_with_spread(model, X_test)
    rmse = math.sqrt(((mean - y_test) ** 2).mean()) * scaler.scale_[0]
    naive = math.sqrt(((X_test[:, -1:] - y_test) ** 2).mean()) * scaler.scale_[0]
    inside = ((mean - y_test).abs() < 1.96 * std).float().mean().item()
    print(f"rmse {rmse:.3f}  last-value rmse {naive:.3f}  std of series {series.std():.3f}  95% interval holds {inside:.3f}")
