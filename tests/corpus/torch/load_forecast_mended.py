"""One-step-ahead forecast of hourly electricity load with a GRU."""
import argparse
import numpy as np
import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--window", type=int, default=24)
parser.add_argument("--hidden", type=int, default=24)
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--lr", type=float, default=5e-3)
args = parser.parse_args()
torch.manual_seed(11)


def hourly_load(n=2400, seed=5):
    r = np.random.default_rng(seed)
    t = np.arange(n)
    ar = np.zeros(n)
    for k in range(1, n):
        ar[k] = 0.6 * ar[k - 1] + r.normal(0, 2.0)
    return 50 + 10 * np.sin(2 * np.pi * t / 24) + 4 * np.sin(2 * np.pi * t / 12 + 1) + ar


def make_windows(series, window):
    xs, ys = [], []
    for i in range(len(series) - window):
        xs.append(series[i:i + window])
        ys.append(series[i + window])
    x = torch.tensor(np.array(xs), dtype=torch.float32).unsqueeze(-1)
    return x, torch.tensor(np.array(ys), dtype=torch.float32)


class Forecaster(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1]).squeeze(-1)


load = hourly_load()
cut = int(0.8 * len(load))
mean, std = load[:cut].mean(), load[:cut].std()
scaled = (load - mean) / std
x_tr, y_tr = make_windows(scaled[:cut], args.window)
x_va, y_va = make_windows(scaled[cut:], args.window)

net = Forecaster(args.hidden)
opt = torch.optim.Adam(net.parameters(), lr=args.lr)
for epoch in range(args.epochs):
    net.train()
    for idx in torch.randperm(len(x_tr)).split(64):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(x_tr[idx]), y_tr[idx])
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        rmse = ((net(x_va) - y_va) ** 2).mean().sqrt().item() * std
    print(f"epoch {epoch + 1} validation RMSE {rmse:.3f} MW")

steps = np.diff(load[cut:])
print(f"persistence RMSE {np.sqrt((steps ** 2).mean()):.3f} MW")
