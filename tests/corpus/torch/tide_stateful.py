"""One-step tide forecasts; the GRU state is carried along 16 parallel stretches of one long record."""
import math

import numpy as np
import torch
import torch.nn as nn


def record(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    level = np.sin(2 * np.pi * t / 12.42) + 0.4 * np.sin(2 * np.pi * t / 12.0 + 1) + 0.25 * np.sin(2 * np.pi * t / 25.82)
    surge = np.zeros(n)
    for i in range(1, n):
        surge[i] = 0.95 * surge[i - 1] + rng.normal(0, 0.05)
    return (level + surge).astype(np.float32)


class TideGRU(nn.Module):
    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.GRU(1, hidden)
        self.delta = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.rnn(x, state)
        return x + self.delta(h), state


class Stretches:
    """Cuts a series into `lanes` long rows and walks along them `span` steps at a time, in order."""

    def __init__(self, series, lanes, span):
        usable = (len(series) - 1) // lanes
        self.x = torch.from_numpy(series[: usable * lanes].reshape(lanes, usable).T.copy())[..., None]
        self.y = torch.from_numpy(series[1 : usable * lanes + 1].reshape(lanes, usable).T.copy())[..., None]
        self.span = span

    def __iter__(self):
        for k in range(0, len(self.x), self.span):
            yield self.x[k : k + self.span], self.y[k : k + self.span]


series = record(80000)
cut = 70000
mean, scale = series[:cut].mean(), series[:cut].std()
series = (series - mean) / scale
train, valid = Stretches(series[:cut], 16, 25), Stretches(series[cut:], 1, 500)

torch.manual_seed(0)
model = TideGRU()
opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
epochs = 12
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda e: 0.5 * (1 + math.cos(math.pi * e / epochs)))

lag = np.sqrt(np.mean((series[cut + 1 :] - series[cut:-1]) ** 2))
print(f"rmse of repeating the last value: {lag:.4f}   noise floor about {0.05 / scale:.4f}")
for epoch in range(epochs):
    model.train()
    state, losses = None, []
    for x, y in train:
        pred, state = model(x, state)
        loss = nn.functional.mse_loss(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        state = state.detach()
        losses.append(loss.item())
    sched.step()

    model.eval()
    state, err, count = None, 0.0, 0
    with torch.no_grad():
        for x, y in valid:
            pred, state = model(x, state)
            err += ((pred - y) ** 2).sum().item()
            count += y.numel()
    print(f"epoch {epoch:2d} train rmse {math.sqrt(np.mean(losses)):.4f} valid rmse {math.sqrt(err / count):.4f}")
