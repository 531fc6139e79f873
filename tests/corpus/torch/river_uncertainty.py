"""River discharge with a predicted spread: network gives mean and log-variance, trained on Gaussian likelihood."""
import math

import numpy as np
import torch
from torch import nn


def river(n, seed):
    rng = np.random.default_rng(seed)
    rain = rng.gamma(2.0, 1.0, n)
    melt = rng.uniform(0, 1, n)
    soil = rng.normal(0, 1, n)
    mean = 0.25 * np.tanh(rain - 2) + 0.15 * melt * soil
    spread = 0.01 + 0.04 * melt
    x = np.stack([rain, melt, soil], 1)
    return (torch.tensor(x, dtype=torch.float32),
            torch.tensor(mean + rng.normal(0, 1, n) * spread, dtype=torch.float32))


class SpreadNet(nn.Module):
    def __init__(self, n_in, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(n_in, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.mu = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mu(h).squeeze(-1), self.log_var(h).squeeze(-1).clamp(-12, 4)


def gaussian_nll(mu, log_var, y):
    return 0.5 * (log_var + (y - mu) ** 2 * torch.exp(-log_var) + math.log(2 * math.pi)).mean()


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        mu, log_var = net(x)
        nll = gaussian_nll(mu, log_var, y).item()
        rmse = (mu - y).pow(2).mean().sqrt().item()
        inside = ((y - mu).abs() < 1.96 * torch.exp(0.5 * log_var)).float().mean().item()
    return nll, rmse, inside


torch.manual_seed(3)
x_tr, y_tr = river(4000, 3)
x_te, y_te = river(1000, 4)
center, scale = x_tr.mean(0), x_tr.std(0)
x_tr, x_te = (x_tr - center) / scale, (x_te - center) / scale

net = SpreadNet(3)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=40)
for epoch in range(40):
    net.train()
    losses = []
    for idx in torch.randperm(len(x_tr)).split(100):
        mu, log_var = net(x_tr[idx])
        loss = gaussian_nll(mu, log_var, y_tr[idx])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
        losses.append(loss.item())
    sched.step()
    if epoch % 5 == 4:
        print("epoch %2d train loss %.4f" % (epoch, np.mean(losses)))

nll, rmse, inside = evaluate(net, x_te, y_te)
base = 0.5 * (1 + math.log(2 * math.pi * y_tr.var().item()))
print("test nll %.4f (constant guess %.4f) rmse %.4f (std %.4f) 95%% coverage %.4f"
      % (nll, base, rmse, y_te.std().item(), inside))
