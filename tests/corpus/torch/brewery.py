"""Fermentation time of a batch in minutes, with an interval for each prediction."""
import math

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TimeNet(nn.Module):
    def __init__(self, features, typical):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(features, 64), nn.SiLU(), nn.Dropout(0.1),
            nn.Linear(64, 64), nn.SiLU(), nn.Dropout(0.1),
        )
        self.mean = nn.Linear(64, 1)
        self.log_var = nn.Linear(64, 1)
        self.typical, self.unit = typical, 1000.0
        nn.init.zeros_(self.log_var.weight)

    def forward(self, x):
        h = self.body(x)
        mean = self.typical + self.unit * self.mean(h).squeeze(-1)
        var = self.unit ** 2 * self.log_var(h).squeeze(-1).clamp(-8, 4).exp()
        return mean, var


def batches_brewed(n, rng):
    temp = rng.uniform(8, 24, n)
    gravity = rng.uniform(1.035, 1.095, n)
    yeast = rng.uniform(0.5, 2.0, n)
    volume = rng.uniform(200, 3000, n)
    noise = rng.normal(0, 1, n) * (60 + 250 * (temp > 18))
    minutes = 9000 - 180 * (temp - 8) + 25000 * (gravity - 1.035) - 600 * np.log2(yeast) + 0.1 * volume + noise
    return np.stack([temp, gravity, yeast, volume], 1), minutes


def sample_predictions(model, x, passes=30):
    model.eval()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.train()
    with torch.no_grad():
        draws = [model(x) for _ in range(passes)]
    means = torch.stack([m for m, _ in draws])
    variances = torch.stack([v for _, v in draws])
    return means.mean(0), variances.mean(0) + means.var(0)


def main():
    torch.manual_seed(30)
    rng = np.random.default_rng(30)
    x, minutes = batches_brewed(2400, rng)
    mu, sd = x[:2000].mean(0), x[:2000].std(0)
    x = torch.tensor((x - mu) / sd, dtype=torch.float32)
    y = torch.tensor(minutes, dtype=torch.float32)
    loader = DataLoader(TensorDataset(x[:2000], y[:2000]), batch_size=64, shuffle=True, drop_last=True)
    model = TimeNet(4, y[:2000].mean().item())
    criterion = nn.GaussianNLLLoss(eps=1.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.94)
    for epoch in range(40):
        model.train()
        total = 0.0
        for xb, yb in loader:
            mean, var = model(xb)
            loss = criterion(mean, yb, var)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
        scheduler.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} nll {total / len(loader):.4f} (in units {total / len(loader) - math.log(1000):.3f})")
    mean, var = sample_predictions(model, x[2000:])
    inside = ((y[2000:] - mean).abs() < 1.64 * var.sqrt()).float().mean().item()
    mae = (y[2000:] - mean).abs().mean().item()
    base = (y[2000:] - y[:2000].mean()).abs().mean().item()
    print(f"mae {mae:.0f} min (mean predictor {base:.0f}), 90% interval covers {inside:.3f}")


if __name__ == "__main__":
    main()
