"""Forecast the water level six hours ahead from the last two days of hourly readings."""
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)
rng = np.random.default_rng(3)
WINDOW, AHEAD = 48, 6


def make_gauge(hours=6000):
    t = np.arange(hours)
    level = 1.4 * np.sin(2 * math.pi * t / 12.42)
    level += 0.6 * np.sin(2 * math.pi * t / 12.0 + 0.4)
    level += 0.3 * np.sin(2 * math.pi * t / 25.82 + 1.1)
    surge = np.zeros(hours)
    for i in range(1, hours):
        surge[i] = 0.97 * surge[i - 1] + 0.04 * rng.standard_normal()
    return (level + surge + 0.03 * rng.standard_normal(hours)).astype(np.float32)


class GaugeWindows(Dataset):
    def __init__(self, series, mean, std):
        self.z = torch.from_numpy((series - mean) / std)

    def __len__(self):
        return len(self.z) - WINDOW - AHEAD

    def __getitem__(self, i):
        return self.z[i:i + WINDOW], self.z[i + WINDOW + AHEAD - 1]


class ConvForecaster(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, width, 5, padding=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2, stride=2), nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2, stride=2), nn.ReLU(),
        )
        self.out = nn.Sequential(nn.Linear(width * WINDOW // 4, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, x):
        h = self.conv(x.unsqueeze(1)).flatten(1)
        return self.out(h)


def evaluate(model, loader, std):
    model.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            p = model(x).view(-1)
            err += ((p - y) ** 2).sum().item()
            n += len(y)
    return math.sqrt(err / n) * std


def main():
    series = make_gauge()
    cut = 4800
    mean, std = series[:cut].mean(), series[:cut].std()
    train = DataLoader(GaugeWindows(series[:cut], mean, std), batch_size=64, shuffle=True)
    valid = DataLoader(GaugeWindows(series[cut:], mean, std), batch_size=256)

    model = ConvForecaster()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.MSELoss()
    for epoch in range(24):
        model.train()
        running = 0.0
        for x, y in train:
            pred = model(x).squeeze(1)
            loss = loss_fn(pred, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        print(f"epoch {epoch + 1:2d}  train mse {running / len(train):.4f}  "
              f"valid rmse {evaluate(model, valid, std):.3f} m")
    print(f"std of the gauge: {std:.3f} m")


if __name__ == "__main__":
    main()
