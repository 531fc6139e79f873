"""Forecast river stage six hours ahead from rain, temperature and current stage."""
import argparse
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def simulate(hours, rng):
    rain = np.where(rng.random(hours) < 0.08, rng.gamma(2.0, 2.0, hours), 0.0)
    temp = 10 + 8 * np.sin(2 * math.pi * np.arange(hours) / 24) + rng.normal(0, 1, hours)
    fast, slow = 0.0, 0.0
    level = np.zeros(hours)
    delayed = np.concatenate([np.zeros(10), rain])[:hours]
    for t in range(hours):
        fast = 0.80 * fast + 0.20 * delayed[t]
        slow = 0.96 * slow + 0.04 * delayed[t]
        level[t] = 2 * fast + 3 * slow + 0.02 * rng.normal()
    return np.stack([rain, temp, level], axis=1).astype("float32")


def windows(series, length, ahead):
    xs, ys = [], []
    for start in range(0, len(series) - length - ahead, 2):
        xs.append(series[start:start + length])
        ys.append(series[start + length + ahead - 1, 2])
    return torch.tensor(np.array(xs)), torch.tensor(np.array(ys)).unsqueeze(1)


class StageNet(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.rnn = nn.LSTM(n_in, hidden, num_layers=1, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.head(out[:, -1])


def evaluate(model, loader, scale):
    model.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            err += (model(x) - y).abs().sum().item()
            n += len(y)
    return scale * err / n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--window", type=int, default=36)
    p.add_argument("--ahead", type=int, default=6)
    p.add_argument("--epochs", type=int, default=24)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=3)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    series = simulate(12000, rng)
    cut = 9600
    mean, std = series[:cut].mean(0), series[:cut].std(0)
    z = (series - mean) / std
    train = TensorDataset(*windows(z[:cut], args.window, args.ahead))
    valid = TensorDataset(*windows(z[cut:], args.window, args.ahead))
    train_dl = DataLoader(train, batch_size=64, shuffle=True)
    valid_dl = DataLoader(valid, batch_size=64)

    model = StageNet(3, args.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.MSELoss()
    persist = std[2] * (valid.tensors[0][:, -1, 2] - valid.tensors[1][:, 0]).abs().mean().item()
    print(f"persistence MAE {persist:.3f}")
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for x, y in train_dl:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            running += loss.item() * len(y)
        print(f"epoch {epoch:2d} train mse {running / len(train):.4f} valid MAE {evaluate(model, valid_dl, std[2]):.3f}")


if __name__ == "__main__":
    main()
