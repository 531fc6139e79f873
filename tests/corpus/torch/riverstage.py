"""Forecast tomorrow's river stage from the last three weeks of stage and rain."""
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

WINDOW = 21


def gauge_record(days, seed=0):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(0.4, 3.0, days) * (1 + 0.6 * np.sin(np.arange(days) / 365 * 2 * np.pi))
    stage = np.zeros(days)
    fast = slow = 0.0
    for d in range(days):
        fast = 0.6 * fast + 0.4 * rain[d]
        slow = 0.95 * slow + 0.05 * rain[d]
        stage[d] = 0.5 * fast + 2.0 * slow + rng.normal(0, 0.05)
    return np.stack([stage, rain], 1).astype(np.float32)


class Windows(Dataset):
    def __init__(self, record, mean, std):
        self.z = torch.from_numpy((record - mean) / std)

    def __len__(self):
        return len(self.z) - WINDOW

    def __getitem__(self, i):
        return self.z[i:i + WINDOW], self.z[i + WINDOW, 0]


class StageNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(2, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        out, _ = self.lstm(x)
        return self.head(out[:, -1])


class LogCosh(nn.Module):
    def forward(self, output, target):
        d = output - target
        return (d + nn.functional.softplus(-2 * d) - math.log(2)).mean()


def run_epoch(net, loader, loss_fn, opt=None):
    net.train(opt is not None)
    total, preds, truth = 0.0, [], []
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            out = net(x)
            loss = loss_fn(out, y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item()
            preds += out.flatten().tolist()
            truth += y.flatten().tolist()
    corr = np.corrcoef(preds, truth)[0, 1]
    mae = np.abs(np.array(preds) - np.array(truth)).mean()
    return total / len(loader), mae, corr


def main():
    torch.manual_seed(14)
    record = gauge_record(2400)
    past, future = record[:2000], record[2000:]
    mean, std = past.mean(0), past.std(0)
    train = DataLoader(Windows(past, mean, std), batch_size=32, shuffle=True)
    test = DataLoader(Windows(future, mean, std), batch_size=64)
    net = StageNet()
    loss_fn = LogCosh()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=12)
    for epoch in range(12):
        loss, _, _ = run_epoch(net, train, loss_fn, opt)
        val, mae, corr = run_epoch(net, test, loss_fn)
        sched.step()
        print(f"epoch {epoch:2d} train {loss:.4f} test {val:.4f} mae {mae:.3f} corr {corr:.3f}")


if __name__ == "__main__":
    main()
