"""Day-ahead forecast of grid load: encoder-decoder GRU, 48 hours in, 24 hours out."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HIST, AHEAD = 48, 24


def load_curve(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    season = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(4 * np.pi * t / 24 + 0.7)
    drift = np.zeros(hours)
    for i in range(1, hours):
        drift[i] = 0.97 * drift[i - 1] + 0.12 * rng.normal()
    return (season + drift + 0.02 * rng.normal(size=hours)).astype(np.float32)


def windows(series, stride):
    rows = [series[s:s + HIST + AHEAD] for s in range(0, len(series) - HIST - AHEAD, stride)]
    arr = torch.from_numpy(np.stack(rows)).unsqueeze(-1)
    return TensorDataset(arr[:, :HIST], arr[:, HIST:])


class Forecaster(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.encoder = nn.GRU(1, hidden, batch_first=True)
        self.decoder = nn.GRU(1, hidden, batch_first=True)
        self.readout = nn.Linear(hidden, 1)

    def forward(self, past, future=None, force=1.0):
        """With `future` given, each step is fed the true previous load with probability `force`."""
        _, state = self.encoder(past)
        step = past[:, -1:]
        outs = []
        for k in range(AHEAD):
            h, state = self.decoder(step, state)
            y = step + self.readout(h)
            outs.append(y)
            if future is not None and torch.rand(()).item() < force:
                step = future[:, k:k + 1]
            else:
                step = y
        return torch.cat(outs, dim=1)


def train_epoch(model, loader, opt, force):
    model.train()
    total = 0.0
    for past, future in loader:
        loss = nn.functional.mse_loss(model(past, future, force=force), future)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item() * len(past)
    return total / len(loader.dataset)


@torch.no_grad()
def day_ahead_rmse(model, loader):
    model.eval()
    sq = n = 0
    for past, future in loader:
        pred = model(past)
        sq += (pred - future).pow(2).sum().item()
        n += future.numel()
    return (sq / n) ** 0.5


def main():
    torch.manual_seed(1)
    train = DataLoader(windows(load_curve(9000, 1), 5), batch_size=64, shuffle=True)
    test = DataLoader(windows(load_curve(3000, 2), 24), batch_size=64)
    same_hour = np.sqrt(np.mean([((f - p[:, -24:]) ** 2).mean().item() for p, f in test]))
    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    epochs = 12
    for ep in range(epochs):
        force = max(0.0, 1.0 - ep / (epochs * 0.6))
        mse = train_epoch(model, train, opt, force)
        print(f"epoch {ep:2d} force {force:.2f} train mse {mse:.4f} test rmse {day_ahead_rmse(model, test):.3f}")
    print(f"day-ahead rmse {day_ahead_rmse(model, test):.3f} (yesterday's curve: {same_hour:.3f})")


if __name__ == "__main__":
    main()
