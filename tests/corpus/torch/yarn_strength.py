"""Deep ensembles (Lakshminarayanan et al.) for yarn tenacity with input-dependent noise."""
import math

import torch
import torch.nn as nn

torch.manual_seed(21)
FEATURES = ["twist", "linear_density", "fibre_length", "micronaire", "humidity", "spindle_speed"]


def mill(n):
    x = torch.rand(n, len(FEATURES)) * 2 - 1
    twist, tex, length, mic, hum, speed = x.unbind(1)
    mean = 14 + 3 * torch.sin(2.2 * twist) + 2 * length - 1.5 * mic * tex + 0.8 * hum
    sigma = 0.25 + 0.6 * torch.sigmoid(4 * speed)
    return x, mean + sigma * torch.randn(n)


class Member(nn.Module):
    def __init__(self, d, h=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(d, h), nn.SiLU(), nn.Linear(h, h), nn.SiLU())
        self.mu = nn.Linear(h, 1)
        self.raw = nn.Linear(h, 1)

    def forward(self, x):
        h = self.trunk(x)
        var = nn.functional.softplus(self.raw(h)) + 1e-4
        return self.mu(h), var


def nll(mu, var, y):
    return 0.5 * (torch.log(var) + (y - mu) ** 2 / var).mean()


def adversarial(model, x, y, eps=0.01):
    x = x.clone().requires_grad_(True)
    grad, = torch.autograd.grad(nll(*model(x), y), x)
    return (x + eps * grad.sign()).detach()


x, y = mill(2400)
xte, yte = mill(600)
m, s = y.mean(), y.std()
y = (y - m) / s

ensemble = [Member(x.size(1)) for _ in range(3)]
for k, model in enumerate(ensemble):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-5)
    for epoch in range(25):
        total = 0.0
        for b in torch.randperm(len(x)).split(100):
            xa = adversarial(model, x[b], y[b])
            loss = 0.5 * nll(*model(x[b]), y[b]) + 0.5 * nll(*model(xa), y[b])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            total += loss.item() * len(b)
        if epoch % 8 == 0:
            print(f"member {k} epoch {epoch} nll {total / len(x):.4f}")

with torch.no_grad():
    mus, variances = zip(*[model(xte) for model in ensemble])
mu = torch.stack(mus).mean(0).flatten()
var = (torch.stack(variances) + torch.stack(mus) ** 2).mean(0).flatten() - mu ** 2
pred, sd = mu * s + m, var.sqrt() * s
r2 = 1 - ((pred - yte) ** 2).sum() / ((yte - yte.mean()) ** 2).sum()
cover = ((pred - yte).abs() < 1.645 * sd).float().mean()
print(f"R2 {r2:.3f} rmse {math.sqrt(((pred - yte) ** 2).mean()):.3f} 90% coverage {cover:.3f} mean sd {sd.mean():.3f}")
