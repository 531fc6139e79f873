"""
Hourly heating-load regression for office buildings.

The meter data is simulated from a simple physical model (transmission losses,
solar gains, occupancy) so that the script runs anywhere.
"""
import argparse
import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    hour = rng.integers(0, 24, n)
    weekday = rng.integers(0, 7, n)
    t_out = rng.normal(8, 9, n)
    wind = rng.gamma(2.0, 2.0, n)
    sun = np.clip(np.sin((hour - 6) / 12 * np.pi), 0, None) * rng.uniform(0, 800, n)
    area = rng.uniform(300, 4000, n)
    u_value = rng.uniform(0.2, 1.6, n)
    glazing = rng.uniform(0.1, 0.7, n)
    occupied = ((hour >= 7) & (hour <= 18) & (weekday < 5)).astype(float)

    loss = u_value * area * np.clip(20 - t_out, 0, None) * (1 + 0.04 * wind)
    gain = glazing * area * 0.05 * sun + occupied * area * 6
    load = np.clip(loss - 0.6 * gain, 0, None) / 1000 + rng.normal(0, 0.8, n)

    x = np.stack([
        np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24),
        weekday < 5, t_out, wind, sun, area, u_value, glazing,
    ], axis=1).astype("float32")
    return x, load.astype("float32")


class LoadNet(nn.Module):
    def __init__(self, n_in, width, depth):
        super().__init__()
        layers, d = [], n_in
        for _ in range(depth):
            layers += [nn.Linear(d, width), nn.SiLU()]
            d = width
        self.body = nn.Sequential(*layers)
        self.out = nn.Linear(d, 1)

    def forward(self, x):
        return self.out(self.body(x)).squeeze(-1)


@torch.no_grad()
def rmse(model, loader, y_std):
    model.eval()
    se, n = 0.0, 0
    for xb, yb in loader:
        se += ((model(xb) - yb) ** 2).sum().item()
        n += len(yb)
    return (se / n) ** 0.5 * y_std


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=20)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--weight-decay", type=float, default=1e-5)
    p.add_argument("--width", type=int, default=96)
    p.add_argument("--depth", type=int, default=3)
    p.add_argument("--seed", type=int, default=3)
    p.add_argument("--out", default="out")
    args = p.parse_args()
    torch.manual_seed(args.seed)
    os.makedirs(args.out, exist_ok=True)

    x_tr, y_tr = simulate(8000, 10)
    x_va, y_va = simulate(2000, 11)
    mu, sd = x_tr.mean(0), x_tr.std(0)
    y_mu, y_sd = y_tr.mean(), y_tr.std()

    def wrap(x, y, shuffle):
        ds = TensorDataset(torch.from_numpy((x - mu) / sd), torch.from_numpy((y - y_mu) / y_sd))
        return DataLoader(ds, batch_size=args.batch_size, shuffle=shuffle)

    train, valid = wrap(x_tr, y_tr, True), wrap(x_va, y_va, False)
    model = LoadNet(x_tr.shape[1], args.width, args.depth)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs * len(train))
    loss_fn = nn.MSELoss()

    print(f"baseline (always the mean): RMSE {np.sqrt(np.mean((y_va - y_mu) ** 2)):.2f} kW")
    for epoch in range(1, args.epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in train:
            opt.zero_grad(set_to_none=True)
            loss = loss_fn(model(xb), yb)
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item() * len(yb)
        if epoch % 2 == 0 or epoch == 1:
            print(f"epoch {epoch:3d}  train mse {total / len(x_tr):.4f}  valid RMSE {rmse(model, valid, y_sd):.2f} kW")

    torch.save(model.state_dict(), os.path.join(args.out, "load_net.pt"))
    print(f"final valid RMSE {rmse(model, valid, y_sd):.3f} kW")


if __name__ == "__main__":
    main()
