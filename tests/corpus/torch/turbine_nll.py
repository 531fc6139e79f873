import argparse
import math
import numpy as np
import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=40)
ap.add_argument("--lr", type=float, default=3e-3)
ap.add_argument("--batch", type=int, default=64)
cli = ap.parse_args()

torch.manual_seed(0)
gen = np.random.default_rng(0)


def turbine(n):
    wind = gen.uniform(2, 22, n)
    density = gen.normal(1.2, 0.05, n)
    angle = gen.uniform(-0.4, 0.4, n)
    clean = 1 / (1 + np.exp(-(wind - 10) * 0.6)) * density / 1.2 * np.cos(angle) ** 3
    sigma = 0.01 + 0.03 * np.exp(-((wind - 10) / 4) ** 2)
    power = clean + sigma * gen.standard_normal(n)
    x = np.stack([(wind - 12) / 5.8, (density - 1.2) / 0.05, angle / 0.23], 1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(power, dtype=torch.float32)


class MeanAndSpread(nn.Module):
    def __init__(self, features, hidden=48):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(features, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mu = nn.Linear(hidden, 1)
        self.log_sigma = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mu(h).squeeze(-1), self.log_sigma(h).squeeze(-1).clamp(-6, 3)


def nll(mu, log_sigma, y):
    z = (y - mu) * torch.exp(-log_sigma)
    return (0.5 * z ** 2 + log_sigma + 0.5 * math.log(2 * math.pi)).mean()


x_train, y_train = turbine(3000)
x_test, y_test = turbine(1000)
model = MeanAndSpread(3)
opt = torch.optim.Adam(model.parameters(), lr=cli.lr)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=cli.epochs)

for epoch in range(cli.epochs):
    running, n = 0.0, 0
    for idx in torch.randperm(len(x_train)).split(cli.batch):
        loss = nll(*model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        running += loss.item() * len(idx)
        n += len(idx)
    sched.step()
    if epoch % 8 == 7:
        print(f"epoch {epoch + 1:2d}  loss {running / n:.4f}")

with torch.no_grad():
    mu, ls = model(x_test)
    rmse = ((mu - y_test) ** 2).mean().sqrt().item()
    inside = ((mu - y_test).abs() < 1.96 * ls.exp()).float().mean().item()
    base = nll(torch.full_like(y_test, y_train.mean().item()),
               torch.full_like(y_test, math.log(y_train.std().item())), y_test).item()
    print(f"test nll {nll(mu, ls, y_test).item():.3f} (constant gaussian {base:.3f})")
print(f"rmse {rmse:.4f} against spread {y_test.std().item():.4f}, 95% interval covers {inside:.3f}")
