"""Two gauges on two rivers that share the same rain: find what they have in common (deep canonical correlation)."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(17)
rng = np.random.default_rng(17)
N, STEPS, DIMS = 3000, 24, 2

rain = rng.normal(0, 1, (N, DIMS))
t = np.linspace(0, 1, STEPS)
north = np.tanh(rain[:, :1] * np.sin(3 * t) + rain[:, 1:] * np.cos(5 * t)) + 0.4 * rng.normal(0, 1, (N, STEPS))
south = np.exp(0.5 * rain[:, 1:]) * t - np.abs(rain[:, :1] + 1) * t**2 + 0.3 * rng.normal(0, 1, (N, STEPS))
north, south = [torch.tensor((v - v.mean(0)) / v.std(0), dtype=torch.float32) for v in (north, south)]
SPLIT = 2400


def inverse_root(m):
    vals, vecs = torch.linalg.eigh(m)
    return vecs @ torch.diag(vals.clamp_min(1e-6).rsqrt()) @ vecs.T


def correlations(a, b, ridge=1e-3):
    a, b = a - a.mean(0), b - b.mean(0)
    eye = torch.eye(a.shape[1])
    saa = a.T @ a / (len(a) - 1) + ridge * eye
    sbb = b.T @ b / (len(b) - 1) + ridge * eye
    sab = a.T @ b / (len(a) - 1)
    return torch.linalg.svdvals(inverse_root(saa) @ sab @ inverse_root(sbb))


def tower():
    return nn.Sequential(nn.Linear(STEPS, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, DIMS))


f, g = tower(), tower()
opt = torch.optim.Adam([*f.parameters(), *g.parameters()], lr=2e-3, weight_decay=1e-4)


def held_out():
    with torch.no_grad():
        return correlations(f(north[SPLIT:]), g(south[SPLIT:]))


print("before:", held_out().numpy().round(3))
for epoch in range(1, 31):
    order = torch.randperm(SPLIT)
    losses = []
    for chunk in order.split(400):
        loss = -correlations(f(north[chunk]), g(south[chunk])).sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    if epoch % 5 == 0:
        print(f"epoch {epoch:2d}  loss {np.mean(losses):+.4f}  held-out correlations {held_out().numpy().round(3)}")

with torch.no_grad():
    za, zb = f(north), g(south)
design = torch.cat([za, torch.ones(N, 1)], 1)
coef = torch.linalg.lstsq(design[:SPLIT], torch.tensor(rain[:SPLIT], dtype=torch.float32)).solution
resid = torch.tensor(rain[SPLIT:], dtype=torch.float32) - design[SPLIT:] @ coef
print("rain explained by the shared part of the north gauge:", (1 - resid.var(0) / torch.tensor(rain[SPLIT:]).var(0)).numpy().round(3))
