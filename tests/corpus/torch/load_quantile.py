"""Hourly electricity load: predict an upper quantile (P90) for the day ahead."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--quantile", type=float, default=0.9)
    p.add_argument("--hidden", type=int, default=64)
    p.add_argument("--epochs", type=int, default=25)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()


def make_series(n_days, rng):
    """Load in MW for every hour of n_days, with the temperature that drives it."""
    hours = np.arange(n_days * 24)
    hod, dow = hours % 24, (hours // 24) % 7
    temp = 15 + 9 * np.sin(2 * np.pi * hours / (24 * 120)) + 5 * np.sin(2 * np.pi * (hod - 9) / 24)
    temp = temp + rng.normal(0, 1.5, len(hours))
    load = 420 + 110 * np.sin(2 * np.pi * (hod - 7) / 24) + 35 * np.sin(4 * np.pi * (hod - 3) / 24)
    load = load - 70 * (dow >= 5) + 0.7 * (temp - 17) ** 2
    load = load + rng.normal(0, 1, len(hours)) * np.where((hod > 7) & (hod < 20), 25, 10)
    return hours, temp, load


def build_features(hours, temp, load):
    hod, dow = hours % 24, (hours // 24) % 7
    day = np.eye(7)[dow]
    feats = np.column_stack([
        np.sin(2 * np.pi * hod / 24), np.cos(2 * np.pi * hod / 24),
        np.sin(4 * np.pi * hod / 24), np.cos(4 * np.pi * hod / 24),
        day, temp,
    ])
    lag = np.roll(load, 24)
    feats = np.column_stack([feats, lag])
    return feats[24:], load[24:]


class LoadDataset(Dataset):
    def __init__(self, feats, target):
        self.x = torch.tensor(feats, dtype=torch.float32)
        self.y = torch.tensor(target, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class QuantileNet(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.body(x)


def pinball(pred, target, q):
    err = target - pred
    return torch.mean(torch.maximum(q * err, (q - 1) * err))


def evaluate(model, loader, q, y_mean, y_std):
    model.eval()
    preds, trues = [], []
    with torch.no_grad():
        for x, y in loader:
            preds.append(model(x).numpy().ravel())
            trues.append(y.numpy())
    pred = np.concatenate(preds) * y_std + y_mean
    true = np.concatenate(trues) * y_std + y_mean
    err = true - pred
    return np.maximum(q * err, (q - 1) * err).mean(), (true <= pred).mean()


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    x, y = build_features(*make_series(240, rng))
    cut = int(0.8 * len(x))
    x_mean, x_std = x[:cut].mean(0), x[:cut].std(0)
    y_mean, y_std = y[:cut].mean(), y[:cut].std()
    x_scaled, y_scaled = (x - x_mean) / x_std, (y - y_mean) / y_std

    train_loader = DataLoader(LoadDataset(x_scaled[:cut], y_scaled[:cut]), batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(LoadDataset(x_scaled[cut:], y_scaled[cut:]), batch_size=512)

    model = QuantileNet(x.shape[1], args.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    base = np.quantile(y[:cut], args.quantile)
    err = y[cut:] - base
    print(f"constant P{100 * args.quantile:.0f}: {np.maximum(args.quantile * err, (args.quantile - 1) * err).mean():.2f} MW")

    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = pinball(model(xb), yb, args.quantile)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
        val, cover = evaluate(model, val_loader, args.quantile, y_mean, y_std)
        print(f"epoch {epoch + 1:2d}  train {running / cut:.4f}  val {val:.2f} MW  coverage {cover:.3f}")


if __name__ == "__main__":
    main()
