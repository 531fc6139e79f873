"""Stateful GRU on parallel streams of hourly load: windows come in order and the state is carried over."""
import numpy as np
import torch
from torch import nn


class LoadStreams:
    def __init__(self, streams=16, hours=6000, window=48, seed=9):
        g = np.random.default_rng(seed)
        t = np.arange(hours)
        rows = []
        for _ in range(streams):
            day = np.sin(2 * np.pi * t / 24 + g.uniform(0, 6))
            week = 0.5 * np.sin(2 * np.pi * t / 168 + g.uniform(0, 6))
            ar = np.zeros(hours)
            shock = g.normal(0, 0.15, hours)
            for k in range(1, hours):
                ar[k] = 0.9 * ar[k - 1] + shock[k]
            rows.append(day + week + ar)
        data = np.stack(rows)
        self.split = int(0.8 * hours)
        mean, std = data[:, : self.split].mean(), data[:, : self.split].std()
        self.data = torch.tensor((data - mean) / std, dtype=torch.float32).unsqueeze(-1)
        self.window = window

    def windows(self, part):
        lo, hi = (0, self.split) if part == "train" else (self.split, self.data.shape[1])
        for s in range(lo, hi - self.window - 1, self.window):
            yield self.data[:, s: s + self.window], self.data[:, s + 1: s + self.window + 1]


class NextHour(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.gru = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.gru(x, state)
        return x + self.out(h), state


def sweep(model, streams, part, opt=None):
    state, losses, naive = None, [], []
    for x, target in streams.windows(part):
        pred, state = model(x, state)
        state = state.detach()
        loss = nn.functional.mse_loss(pred, target)
        if opt is not None:
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        losses.append(loss.item())
        naive.append(nn.functional.mse_loss(x, target).item())
    return np.mean(losses), np.mean(naive)


if __name__ == "__main__":
    torch.manual_seed(9)
    streams = LoadStreams()
    model = NextHour()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 1.0 if e < 6 else 0.3)
    for epoch in range(10):
        model.train()
        train_mse, _ = sweep(model, streams, "train", opt)
        model.eval()
        with torch.no_grad():
            test_mse, naive_mse = sweep(model, streams, "test")
        schedule.step()
        print(f"epoch {epoch} train {train_mse:.4f} test {test_mse:.4f} (last value: {naive_mse:.4f})")
