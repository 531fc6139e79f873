"""Autoencoder on motor vibration windows; high reconstruction error marks a bad bearing."""
import math
import resource
import time

import numpy as np
import torch
from torch import nn

SR, WIN = 2000, 512


def motor_window(rng, faulty=False):
    t = np.arange(WIN) / SR
    f = rng.uniform(24, 26)
    x = np.sin(2 * math.pi * f * t + rng.uniform(0, 6.28))
    x += 0.5 * np.sin(2 * math.pi * 2 * f * t + rng.uniform(0, 6.28))
    x += 0.1 * rng.standard_normal(WIN)
    if faulty:
        for start in range(rng.integers(0, 40), WIN - 20, 41):
            x[start:start + 20] += 1.2 * np.exp(-np.arange(20) / 5) * np.sin(2 * math.pi * 400 * t[:20])
    return x.astype(np.float32)


class ConvAE(nn.Module):
    def __init__(self, c=16, code=12):
        super().__init__()
        self.enc = nn.Sequential(
            nn.Conv1d(1, c, 9, stride=4, padding=4), nn.ELU(),
            nn.Conv1d(c, 2 * c, 9, stride=4, padding=4), nn.ELU(),
            nn.Flatten(), nn.Linear(2 * c * WIN // 16, code))
        self.dec_in = nn.Linear(code, 2 * c * WIN // 16)
        self.dec = nn.Sequential(
            nn.Unflatten(1, (2 * c, WIN // 16)), nn.ELU(),
            nn.ConvTranspose1d(2 * c, c, 8, stride=4, padding=2), nn.ELU(),
            nn.ConvTranspose1d(c, 1, 8, stride=4, padding=2))

    def forward(self, x):
        return self.dec(self.dec_in(self.enc(x)))


class Meter:
    """Keeps the whole history so that means over any stretch can be printed."""

    def __init__(self):
        self.values = []

    def update(self, value):
        self.values.append(value)

    def mean(self, last):
        part = self.values[-last:]
        return float(sum(part) / len(part))


class Fitter:
    def __init__(self, model, lr=2e-3, batch=64):
        self.model, self.batch = model, batch
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.meter = Meter()
        self.errors = []

    def epoch(self, data):
        self.model.train()
        n = 0
        for idx in torch.randperm(len(data)).split(self.batch):
            x = data[idx]
            noisy = x + 0.05 * torch.randn_like(x)
            loss = nn.functional.mse_loss(self.model(noisy), x)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.meter.update(loss.item())
            n += 1
        return self.meter.mean(n)

    def score(self, data):
        self.model.eval()
        return ((self.model(data) - data) ** 2).mean((1, 2))


def rss_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    rng = np.random.default_rng(21)
    torch.manual_seed(21)
    stack = lambda n, bad: torch.from_numpy(np.stack([motor_window(rng, bad) for _ in range(n)])).unsqueeze(1)
    train, valid, good, bad = stack(2000, False), stack(800, False), stack(300, False), stack(300, True)
    fit = Fitter(ConvAE())
    start = time.time()
    for e in range(40):
        loss = fit.epoch(train)
        fit.errors.append(fit.score(valid))
        if e % 4 == 3:
            print(f"epoch {e + 1:2d} train mse {loss:.4f}  valid mse {fit.errors[-1].mean():.4f}  {time.time() - start:5.1f}s  peak memory {rss_mb():.0f} MB")
    sg, sb = fit.score(good), fit.score(bad)
    drift = torch.stack([e.quantile(0.95) for e in fit.errors])
    print("95% error over epochs, first and last:", round(drift[0].item(), 4), round(drift[-1].item(), 4))
    auc = (sb[:, None] > sg[None, :]).float().mean()
    print(f"error good {sg.mean():.4f} bad {sb.mean():.4f}  AUC {auc:.3f}")


if __name__ == "__main__":
    main()
