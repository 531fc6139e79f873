"""Two-moons-on-a-torus classification with random Fourier features and L-BFGS.

The feature layer stays at its random draw on purpose (Rahimi & Recht); only the
read-out is fitted, full batch, with a second-order optimiser at step size 1.
"""
import math
import os

import numpy as np
import torch
from torch import nn


def torus_arms(n, seed, noise=0.12):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    r = rng.uniform(0.2, 2.6, n)
    angle = 2.2 * r + y * 2 * np.pi / 3 + rng.normal(0, noise, n)
    xy = np.stack([r * np.cos(angle), r * np.sin(angle)], 1)
    return torch.tensor(xy, dtype=torch.float64), torch.tensor(y)


class RandomFeatures(nn.Module):
    def __init__(self, n_in, n_features, lengthscale):
        super().__init__()
        self.register_buffer("omega", torch.randn(n_in, n_features, dtype=torch.float64) / lengthscale)
        self.register_buffer("phase", 2 * math.pi * torch.rand(n_features, dtype=torch.float64))
        self.scale = math.sqrt(2.0 / n_features)

    def forward(self, x):
        return self.scale * torch.cos(x @ self.omega + self.phase)


class KitchenSink(nn.Module):
    def __init__(self, n_features=600, lengthscale=0.5):
        super().__init__()
        self.features = RandomFeatures(2, n_features, lengthscale)
        self.readout = nn.Linear(n_features, 3, dtype=torch.float64)
        nn.init.zeros_(self.readout.weight)   # convex problem, any start will do
        nn.init.zeros_(self.readout.bias)

    def forward(self, x):
        return self.readout(self.features(x))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).double().mean().item()


def main():
    torch.manual_seed(0)
    os.makedirs("out", exist_ok=True)
    x, y = torus_arms(1500, 1)
    xt, yt = torus_arms(1500, 2)
    model = KitchenSink()
    ridge = 1e-4

    opt = torch.optim.LBFGS(
        model.readout.parameters(), lr=1.0, max_iter=10, history_size=20, line_search_fn="strong_wolfe")

    # the features never change, so compute them once
    with torch.no_grad():
        phi = model.features(x)

    def closure():
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model.readout(phi), y)
        loss = loss + ridge * model.readout.weight.pow(2).sum()
        loss.backward()
        return loss

    for rnd in range(12):
        value = opt.step(closure)
        print(f"round {rnd:2d} objective {value.item():.5f} "
              f"train {accuracy(model, x, y):.3f} test {accuracy(model, xt, yt):.3f}")

    linear = np.linalg.lstsq(np.c_[x.numpy(), np.ones(len(x))], np.eye(3)[y.numpy()], rcond=None)[0]
    base = (np.c_[xt.numpy(), np.ones(len(xt))] @ linear).argmax(1)
    print(f"linear baseline {np.mean(base == yt.numpy()):.3f}")
    print(f"test accuracy {accuracy(model, xt, yt):.3f}")
    torch.save(model.state_dict(), "out/kitchen.pt")


if __name__ == "__main__":
    main()
