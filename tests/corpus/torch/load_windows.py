"""Day-ahead electricity load from the last week, windows drawn on the fly."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset

PAST, AHEAD = 168, 24


def grid_load(days=400, seed=8):
    rng = np.random.default_rng(seed)
    h = np.arange(days * 24)
    daily = 900 * np.sin(2 * np.pi * (h % 24 - 7) / 24)
    weekly = np.where((h // 24) % 7 >= 5, -700, 0)
    season = 1500 * np.cos(2 * np.pi * h / (24 * 365))
    drift = np.cumsum(rng.normal(0, 12, len(h)))
    return (9000 + daily + weekly + season + drift + rng.normal(0, 90, len(h))).astype("float32")


class RandomWindows(IterableDataset):
    def __init__(self, series, per_epoch):
        self.series, self.per_epoch = torch.from_numpy(series), per_epoch
        self.rng = np.random.default_rng(0)

    def __iter__(self):
        last = len(self.series) - PAST - AHEAD
        for start in self.rng.integers(0, last + 1, self.per_epoch):
            w = self.series[start:start + PAST + AHEAD]
            yield w[:PAST], w[PAST:]


class WindowScaledMLP(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(PAST, hidden), nn.ReLU(), nn.Linear(hidden, AHEAD))
        nn.init.zeros_(self.net[2].weight)
        nn.init.zeros_(self.net[2].bias)

    def forward(self, past):
        mu = past.mean(1, keepdim=True)
        sd = past.std(1, keepdim=True)
        z = self.net((past - mu) / sd)
        naive = (past[:, -AHEAD:] - mu) / sd
        return (z + naive) * sd + mu, sd


def backtest(net, series):
    starts = range(0, len(series) - PAST - AHEAD + 1, AHEAD)
    x = torch.stack([torch.from_numpy(series[s:s + PAST]) for s in starts])
    y = torch.stack([torch.from_numpy(series[s + PAST:s + PAST + AHEAD]) for s in starts])
    net.eval()
    with torch.no_grad():
        pred, _ = net(x)
    mae = (pred - y).abs().mean().item()
    day = (x[:, -AHEAD:] - y).abs().mean().item()
    week = (x[:, :AHEAD] - y).abs().mean().item()
    return mae, day, week


def main():
    torch.manual_seed(0)
    load = grid_load()
    cut = 320 * 24
    past, future = load[:cut], load[cut - PAST:]
    loader = DataLoader(RandomWindows(past, 3200), batch_size=64)
    net = WindowScaledMLP()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-3)
    epochs = 10
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
    for epoch in range(epochs):
        net.train()
        seen = loss_sum = 0
        for x, y in loader:
            pred, sd = net(x)
            loss = nn.functional.smooth_l1_loss(pred / sd, y / sd)
            loss.backward()
            opt.step()
            opt.zero_grad()
            loss_sum += loss.item() * len(x)
            seen += len(x)
        sched.step()
        mae, day, week = backtest(net, future)
        print(f"epoch {epoch} train {loss_sum / seen:.4f} backtest MAE {mae:.0f} MW")
    print(f"final MAE {mae:.0f} MW, yesterday {day:.0f} MW, last week {week:.0f} MW")


if __name__ == "__main__":
    main()
