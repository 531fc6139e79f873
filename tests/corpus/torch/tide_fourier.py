"""Tide height from time and place: a fixed bank of random cosines, only the read-out is trained."""
import math

import numpy as np
import torch
from torch import nn

torch.manual_seed(2)
rng = np.random.default_rng(2)


def observations(n):
    t = rng.uniform(0, 14, n)      # days
    s = rng.uniform(-1, 1, n)      # position along the coast
    m2 = (1.2 + 0.4 * s) * np.cos(2 * math.pi * t / 0.5175 - 1.5 * s)
    s2 = 0.5 * np.cos(2 * math.pi * t / 0.5 - 1.1 * s)
    k1 = 0.35 * np.sin(2 * math.pi * t / 0.9973 + s)
    surge = 0.3 * np.tanh(3 * s) * np.sin(t / 2)
    return np.c_[t, s].astype("float32"), (m2 + s2 + k1 + surge + rng.normal(0, 0.1, n)).astype("float32")


class CosineBank(nn.Module):
    """Frequencies sit around the known tidal lines and never change."""

    def __init__(self, n=500):
        super().__init__()
        lines = torch.tensor([1 / 0.5175, 2.0, 1 / 0.9973, 1 / (4 * math.pi)])
        f = lines[torch.randint(0, 4, (n,))] * 2 * math.pi
        self.freq = nn.Parameter(torch.stack([f, torch.randn(n) * 2.0]), requires_grad=False)
        self.phase = nn.Parameter(torch.rand(n) * 2 * math.pi, requires_grad=False)

    @torch.no_grad()
    def forward(self, x):
        return torch.cos(x @ self.freq + self.phase) * math.sqrt(2 / len(self.phase))


class TideModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.bank = CosineBank()
        self.readout = nn.Linear(500, 1)

    def forward(self, x):
        return self.readout(self.bank(x)).squeeze(1)


x_tr, y_tr = map(torch.tensor, observations(4000))
x_te, y_te = map(torch.tensor, observations(1500))
model = TideModel()
trainable = [p for p in model.parameters() if p.requires_grad]
print("trainable", sum(p.numel() for p in trainable), "fixed", sum(p.numel() for p in model.bank.parameters()))

# a linear read-out on unit-norm features takes a large step
opt = torch.optim.SGD(trainable, lr=1.0, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.02, total_iters=30)
for epoch in range(1, 31):
    model.train()
    perm = torch.randperm(len(x_tr))
    seen = 0.0
    for chunk in perm.chunk(40):
        err = model(x_tr[chunk]) - y_tr[chunk]
        loss = err.square().mean() / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += loss.item() * len(chunk)
    sched.step()
    if epoch % 5 == 0:
        model.eval()
        rmse = (model(x_te) - y_te).square().mean().sqrt().item()
        print(f"epoch {epoch:2d} half-mse {seen / len(x_tr):.4f} test rmse {rmse:.4f}")

print(f"test rmse {rmse:.4f} m, standard deviation of the tide {y_te.std().item():.4f} m (sensor noise 0.10)")
