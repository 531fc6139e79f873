"""Crop type from a season of satellite reflectances (24 dates x 4 bands), hand written deep MLP."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CROPS = ["wheat", "barley", "rape", "maize", "beet", "potato", "grass", "vineyard", "sunflower"]


def make_fields(n, profiles, rng):
    t = np.linspace(0, 1, 24)
    y = rng.integers(0, len(profiles), n)
    x = np.zeros((n, 24, 4))
    for i, c in enumerate(y):
        p = profiles[c]
        start = p["peak"] + rng.normal(0, 0.035)
        green = np.exp(-0.5 * ((t - start) / (p["width"] * rng.uniform(0.85, 1.15))) ** 2)
        green = green + p["second"] * np.exp(-0.5 * ((t - start - 0.3) / 0.06) ** 2)
        for b in range(4):
            x[i, :, b] = p["base"][b] + p["gain"][b] * green
        x[i] += rng.normal(0, 0.05, (24, 4)) + rng.normal(0, 0.06, (1, 4))
        cloudy = rng.random(24) < 0.08
        x[i, cloudy] += rng.uniform(0.2, 0.6)
    return x.reshape(n, -1).astype(np.float32), y


class Dense(nn.Module):
    """y = x W + b"""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(fan_in, fan_out) / math.sqrt(fan_in))
        self.bias = nn.Parameter(torch.zeros(fan_out))

    def forward(self, x):
        return x @ self.weight + self.bias


class CropNet(nn.Module):
    def __init__(self, d_in, width, depth, n_out):
        super().__init__()
        sizes = [d_in] + [width] * depth
        self.hidden = nn.ModuleList(Dense(a, b) for a, b in zip(sizes[:-1], sizes[1:]))
        self.out = Dense(width, n_out)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.out(x)


class Trainer:
    def __init__(self, model, lr=1e-3, batch=64):
        self.model, self.batch = model, batch
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def fit(self, x, y, xv, yv, epochs):
        for ep in range(epochs):
            order = torch.randperm(len(x))
            total = 0.0
            for i in range(0, len(x), self.batch):
                sel = order[i:i + self.batch]
                loss = F.cross_entropy(self.model(x[sel]), y[sel])
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                total += loss.item() * len(sel)
            if ep % 4 == 0 or ep == epochs - 1:
                vl, va = self.score(xv, yv)
                print(f"[{ep:02d}] train {total / len(x):7.3f}   valid {vl:7.3f}   acc {va:.3f}")

    @torch.no_grad()
    def score(self, x, y):
        logits = self.model(x)
        return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    rng = np.random.default_rng(11)
    torch.manual_seed(11)
    profiles = [dict(peak=rng.uniform(0.3, 0.6), width=rng.uniform(0.07, 0.16), second=rng.choice([0, 0.35]),
                     base=rng.uniform(0.05, 0.2, 4), gain=rng.uniform(0.1, 0.4, 4)) for _ in CROPS]
    x, y = make_fields(3600, profiles, rng)
    xtr, ytr, xva, yva, xte, yte = x[:2400], y[:2400], x[2400:2900], y[2400:2900], x[2900:], y[2900:]
    mu, sd = xtr.mean(0), xtr.std(0)
    T = lambda a: torch.from_numpy((a - mu) / sd)
    L = lambda a: torch.from_numpy(a).long()

    net = CropNet(d_in=96, width=128, depth=6, n_out=len(CROPS))
    trainer = Trainer(net, lr=5e-4)
    print("before training: loss %.3f" % trainer.score(T(xva), L(yva))[0])
    trainer.fit(T(xtr), L(ytr), T(xva), L(yva), epochs=20)
    loss, acc = trainer.score(T(xte), L(yte))
    print(f"test loss {loss:.3f}  accuracy {acc:.3f}  (majority {np.bincount(yte).max() / len(yte):.3f})")
