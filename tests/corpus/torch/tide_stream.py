"""One-step tide forecasts from a long record, read in order with a carried state."""
import numpy as np
import torch
from torch import nn


class TideNet(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.cell = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, h):
        y, h = self.cell(x, h)
        return x + self.out(y), h


def record(n, seed):
    g = np.random.default_rng(seed)
    t = np.arange(n)
    lunar = np.sin(2 * np.pi * t / 12.42 + 1.0)
    solar = 0.45 * np.sin(2 * np.pi * t / 12.0)
    spring = 0.3 * np.sin(2 * np.pi * t / 25.82)
    return (lunar + solar + spring + 0.05 * g.normal(size=n)).astype(np.float32)


class Stream:
    """Cuts the record into parallel lanes; chunk k+1 continues chunk k in every lane."""

    def __init__(self, series, lanes, chunk):
        width = (len(series) - 1) // lanes
        self.x = torch.from_numpy(series[:lanes * width].reshape(lanes, width, 1))
        self.y = torch.from_numpy(series[1:lanes * width + 1].reshape(lanes, width, 1))
        self.chunk = chunk
        self.count = width // chunk

    def __iter__(self):
        for k in range(self.count):
            part = slice(k * self.chunk, (k + 1) * self.chunk)
            yield self.x[:, part], self.y[:, part]


def train(accumulate=2, epochs=30):
    torch.manual_seed(9)
    series = record(24000, 0)
    fit, hold = Stream(series[:20000], 8, 25), Stream(series[20000:], 1, 50)
    net = TideNet()
    opt = torch.optim.RMSprop(net.parameters(), lr=2e-3)
    for epoch in range(epochs):
        net.train()
        h = torch.zeros(1, 8, 32)
        total = 0.0
        opt.zero_grad()
        for k, (x, y) in enumerate(fit):
            pred, h = net(x, h)
            h = h.detach()
            loss = nn.functional.mse_loss(pred, y)
            (loss / accumulate).backward()
            total += loss.item()
            if (k + 1) % accumulate == 0:
                nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                opt.step()
                opt.zero_grad()
        net.eval()
        with torch.no_grad():
            h, err, naive, n = torch.zeros(1, 1, 32), 0.0, 0.0, 0
            for x, y in hold:
                pred, h = net(x, h)
                err += (pred - y).pow(2).sum().item()
                naive += (x - y).pow(2).sum().item()
                n += y.numel()
        if epoch == 18:
            for group in opt.param_groups:
                group["lr"] *= 0.3
        print(f"epoch {epoch:2d} train {total / fit.count:.5f} held-out {err / n:.5f} (persistence {naive / n:.5f})")


if __name__ == "__main__":
    train()
