from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass
class Options:
    n: int = 4000
    epochs: int = 30
    batch: int = 100
    lr: float = 3e-3
    floor: float = 1e-3
    seed: int = 1


def calibration_bench(opt):
    """Distance sensor: small noise nearby, larger noise far away (in metres)."""
    rng = np.random.default_rng(opt.seed)
    raw = rng.uniform(-1, 1, size=(opt.n, 3))
    truth = 0.4 * np.sin(3 * raw[:, 0]) + 0.2 * raw[:, 1] * raw[:, 2]
    noise = 0.01 + 0.05 * (raw[:, 0] > 0)
    y = truth + noise * rng.normal(size=opt.n)
    return torch.tensor(raw, dtype=torch.float32), torch.tensor(y, dtype=torch.float32).unsqueeze(1)


class MeanVariance(nn.Module):
    def __init__(self, floor):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.mean = nn.Linear(64, 1)
        self.raw_std = nn.Linear(64, 1)
        self.floor = floor

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), nn.functional.softplus(self.raw_std(h)) + self.floor


def negative_log_likelihood(mean, std, y):
    return -torch.distributions.Normal(mean, std).log_prob(y).mean()


def run(opt):
    torch.manual_seed(opt.seed)
    x, y = calibration_bench(opt)
    cut = int(0.8 * opt.n)
    x_tr, y_tr, x_te, y_te = x[:cut], y[:cut], x[cut:], y[cut:]
    model = MeanVariance(opt.floor)
    optim = torch.optim.Adam(model.parameters(), lr=opt.lr)
    steps = opt.epochs * (cut // opt.batch)
    sched = torch.optim.lr_scheduler.OneCycleLR(optim, max_lr=opt.lr * 2, total_steps=steps)

    for epoch in range(opt.epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(cut).split(opt.batch):
            loss = negative_log_likelihood(*model(x_tr[idx]), y_tr[idx])
            optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optim.step()
            sched.step()
            total += loss.item()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d}  loss {total / (cut // opt.batch):.3f}")

    model.eval()
    with torch.no_grad():
        mean, std = model(x_te)
        nll = negative_log_likelihood(mean, std, y_te).item()
        rmse = (mean - y_te).pow(2).mean().sqrt().item()
        inside = ((mean - y_te).abs() < 1.645 * std).float().mean().item()
        flat = negative_log_likelihood(y_tr.mean(), y_tr.std(), y_te).item()
    print(f"test nll {nll:.3f} (single gaussian {flat:.3f})  rmse {rmse:.4f} "
          f"(spread {y_te.std().item():.4f})  90% interval covers {inside:.3f}")


if __name__ == "__main__":
    run(Options())
