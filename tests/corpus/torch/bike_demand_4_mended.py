"""Hourly bike rental demand, MLP with a log-cosh loss."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.preprocessing import StandardScaler


@dataclass
class Settings:
    hidden: int = 64
    epochs: int = 30
    batch_size: int = 128
    lr: float = 2e-3
    weight_decay: float = 1e-4
    seed: int = 21


def simulate_rentals(days, rng):
    hour = np.tile(np.arange(24), days)
    day = np.repeat(np.arange(days), 24)
    weekend = ((day % 7) >= 5).astype(float)
    season = np.sin(2 * np.pi * (day - 80) / 365)
    temp = 12 + 10 * season + 4 * np.sin(2 * np.pi * (hour - 9) / 24) + rng.normal(0, 2.5, len(day))
    rain = (rng.random(len(day)) < 0.12).astype(float)
    wind = rng.gamma(2.0, 2.0, len(day))
    rush = np.exp(-(hour - 8) ** 2 / 3) + 1.2 * np.exp(-(hour - 17.5) ** 2 / 5)
    leisure = np.exp(-(hour - 14) ** 2 / 18)
    demand = 260 * rush * (1 - weekend) + 210 * leisure * (0.3 + 0.7 * weekend) + 20
    demand *= np.clip(0.3 + temp / 25, 0.1, 1.5) * (1 - 0.6 * rain) * np.exp(-wind / 40)
    demand += rng.normal(0, 8, len(day))
    features = np.column_stack([
        np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24),
        np.sin(4 * np.pi * hour / 24), np.cos(4 * np.pi * hour / 24),
        weekend, temp, rain, wind,
    ])
    return features.astype(np.float32), np.clip(demand, 0, None).astype(np.float32)


class DemandNet(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.SiLU(),
            nn.Linear(hidden, hidden), nn.SiLU(),
        )
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


def log_cosh(pred, target):
    diff = pred - target
    return torch.mean(diff + nn.functional.softplus(-2.0 * diff) - np.log(2.0))


def fit(model, x, y, s):
    optimizer = torch.optim.AdamW(model.parameters(), lr=s.lr, weight_decay=s.weight_decay)
    history = []
    for epoch in range(s.epochs):
        model.train()
        order = torch.randperm(len(x))
        running = 0.0
        for idx in order.split(s.batch_size):
            optimizer.zero_grad()
            loss = log_cosh(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
            running += loss.item() * len(idx)
        history.append(running / len(x))
        if (epoch + 1) % 5 == 0:
            print(f"epoch {epoch + 1:3d}  loss {history[-1]:.4f}")
    return history


def predict(model, x):
    model.eval()
    with torch.no_grad():
        return model(x).numpy().reshape(-1)


if __name__ == "__main__":
    s = Settings()
    torch.manual_seed(s.seed)
    rng = np.random.default_rng(s.seed)
    features, demand = simulate_rentals(400, rng)
    cut = 330 * 24                       # the last ten weeks are held out
    x_scaler = StandardScaler().fit(features[:cut])
    y_mean, y_std = demand[:cut].mean(), demand[:cut].std()

    x_train = torch.from_numpy(x_scaler.transform(features[:cut]))
    y_train = torch.from_numpy((demand[:cut] - y_mean) / y_std)
    x_test = torch.from_numpy(x_scaler.transform(features[cut:]))

    model = DemandNet(x_train.shape[1], s.hidden)
    fit(model, x_train, y_train, s)

    guess = predict(model, x_test) * y_std + y_mean
    truth = demand[cut:]
    print(f"mean baseline  MAE {np.abs(truth - y_mean).mean():.1f}")
    print(f"test           MAE {mean_absolute_error(truth, guess):.1f}  R2 {r2_score(truth, guess):.3f}")
