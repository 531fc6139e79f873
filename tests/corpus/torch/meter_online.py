#!/usr/bin/env python
"""Load forecast on a live meter: every reading is first predicted, then learned from, once, in order."""
import math
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
rng = np.random.default_rng(0)

HOURS = 24 * 260


def meter():
    """Yields (features known beforehand, load). Daily shape changes halfway, when a heat pump is put in."""
    drift = 0.0
    for h in range(HOURS):
        day, hour = divmod(h, 24)
        drift = 0.95 * drift + 0.12 * rng.normal()
        w = 2 * math.pi * hour / 24
        shape = math.sin(w - 1.5) + 0.5 * math.sin(2 * w)
        if h > HOURS // 2:
            shape = 0.6 * math.sin(w + 1.0) + 0.9 * math.cos(2 * w)
        weekend = 1.0 if day % 7 >= 5 else 0.0
        load = 3.0 + shape * (0.5 if weekend else 1.0) + drift + 0.05 * rng.normal()
        yield [math.sin(w), math.cos(w), math.sin(2 * w), math.cos(2 * w), weekend], load


class Forecaster(nn.Module):
    def __init__(self, n_in=6, hidden=32):
        super().__init__()
        self.cell = nn.GRUCell(n_in, hidden)
        self.out = nn.Sequential(nn.Linear(hidden + n_in, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x, state):
        state = self.cell(x, state)
        return self.out(torch.cat([state, x], 1)).squeeze(), state


class Running:
    """Mean and variance so far; the scaler never looks ahead."""

    def __init__(self):
        self.n, self.mean, self.m2 = 0, 0.0, 0.0

    def add(self, v):
        self.n += 1
        d = v - self.mean
        self.mean += d / self.n
        self.m2 += d * (v - self.mean)

    @property
    def std(self):
        return math.sqrt(self.m2 / self.n) if self.n > 1 and self.m2 > 0 else 1.0


net = Forecaster()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
norm = Running()
state = torch.zeros(1, 32)
last, yesterday = 0.0, [None] * 24
pending, errors, naive = [], [], []
WINDOW = 6           # truncated backpropagation through six readings

for h, (known, load) in enumerate(meter()):
    scaled_last = (last - norm.mean) / norm.std if norm.n else 0.0
    x = torch.tensor([known + [scaled_last]], dtype=torch.float32)
    guess, state = net(x, state)
    # score before the reading is used for anything
    errors.append(abs(guess.item() * norm.std + norm.mean - load))
    naive.append(abs((yesterday[h % 24] if yesterday[h % 24] is not None else last) - load))
    norm.add(load)
    target = (load - norm.mean) / norm.std
    pending.append(nn.functional.huber_loss(guess, torch.tensor(target, dtype=torch.float32)))
    last, yesterday[h % 24] = load, load

    if len(pending) == WINDOW:
        opt.zero_grad()
        torch.stack(pending).mean().backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        pending.clear()
        state = state.detach()

    if (h + 1) % (24 * 20) == 0:
        print(f"day {(h + 1) // 24:3d}  error of the last 20 days: {np.mean(errors[-480:]):.3f}"
              f"  same hour yesterday: {np.mean(naive[-480:]):.3f}")
half = HOURS // 2
print(f"before the change {np.mean(errors[half - 960:half]):.3f}, just after {np.mean(errors[half:half + 48]):.3f}, "
      f"at the end {np.mean(errors[-960:]):.3f}")
