"""Hourly pump discharge one step ahead from the last 36 hours (GRU)."""
import argparse
import logging

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("pump")


def simulate(hours=3000, seed=3):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    rain = np.convolve(rng.exponential(1.0, hours) * (rng.random(hours) < 0.06), np.exp(-np.arange(24) / 6), "same")
    day = 2.0 * np.sin(2 * np.pi * t / 24) + 0.8 * np.sin(4 * np.pi * t / 24 + 0.7)
    week = 0.9 * ((t // 24) % 7 >= 5)
    level = np.zeros(hours)
    for i in range(1, hours):
        level[i] = 0.85 * level[i - 1] + 0.5 * rain[i - 1] + rng.normal(0, 0.12)
    flow = 14.0 + day - week + 1.5 * level + rng.normal(0, 0.15, hours)
    return np.stack([flow, rain, np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24)], 1).astype("float32")


class Windows(Dataset):
    def __init__(self, series, length, mean, std):
        self.series = (series - mean) / std
        self.length = length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, i):
        x = self.series[i:i + self.length]
        y = self.series[i + self.length, 0]
        return torch.from_numpy(x), torch.tensor(y)


class FlowGRU(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.rnn = nn.GRU(n_in, hidden, batch_first=True)
        self.out = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1])


def peak_weighted_mse(pred, target, alpha):
    # high discharge matters more to the operators
    w = 1.0 + alpha * torch.relu(target)
    return (w * (pred - target) ** 2).mean()


@torch.no_grad()
def rmse(model, loader, std):
    model.eval()
    out, ref = [], []
    for x, y in loader:
        out.append(model(x).squeeze(-1))
        ref.append(y)
    err = (torch.cat(out) - torch.cat(ref)) * std
    return err.pow(2).mean().sqrt().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--window", type=int, default=36)
    p.add_argument("--hidden", type=int, default=48)
    p.add_argument("--alpha", type=float, default=0.5)
    args = p.parse_args()
    torch.manual_seed(0)

    series = simulate()
    cut = int(0.8 * len(series))
    mean, std = series[:cut].mean(0), series[:cut].std(0)
    train = DataLoader(Windows(series[:cut], args.window, mean, std), args.batch_size, shuffle=True)
    test = DataLoader(Windows(series[cut:], args.window, mean, std), 256)

    model = FlowGRU(series.shape[1], args.hidden)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            pred = model(x)
            loss = peak_weighted_mse(pred, y, args.alpha)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(x)
        sched.step()
        log.info("epoch %d loss %.4f test rmse %.3f", epoch, total / len(train.dataset), rmse(model, test, std[0]))

    held = series[cut:, 0]
    log.info("test rmse %.3f  (mean of train: %.3f, last value: %.3f)", rmse(model, test, std[0]),
             np.sqrt(((held - mean[0]) ** 2).mean()), np.sqrt((np.diff(held) ** 2).mean()))


if __name__ == "__main__":
    main()
