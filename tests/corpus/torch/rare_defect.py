"""Rare defect detection (about 4 percent positives) on top of fixed random Fourier features."""
import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.metrics import average_precision_score
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
rng = np.random.default_rng(9)


def inspect(n):
    x = rng.normal(size=(n, 4)).astype("float32")
    ring = np.abs(np.hypot(x[:, 0], x[:, 1]) - 1.8) < 0.22
    y = ring & (x[:, 2] + 0.3 * x[:, 3] > 0.7)
    y ^= rng.random(n) < 0.002
    return torch.from_numpy(x), torch.from_numpy(y.astype("float32"))


class FourierNet(nn.Module):
    def __init__(self, d=4, m=128, prior=0.05):
        super().__init__()
        # the projection is random and stays so
        self.register_buffer("freq", torch.randn(d, m) * 0.8)
        self.register_buffer("phase", torch.rand(m) * 2 * math.pi)
        self.mlp = nn.Sequential(nn.Linear(m, 64), nn.SiLU(), nn.Linear(64, 1))
        nn.init.zeros_(self.mlp[-1].weight)
        nn.init.constant_(self.mlp[-1].bias, math.log(prior / (1 - prior)))

    def forward(self, x):
        z = math.sqrt(2) * torch.cos(x @ self.freq + self.phase)
        return self.mlp(z)[:, 0]


@torch.no_grad()
def update_ema(ema, model, decay):
    for a, b in zip(ema.parameters(), model.parameters()):
        a.lerp_(b, 1 - decay)


def focal(logits, target, gamma=1.5, alpha=0.75):
    bce = F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    p_t = torch.exp(-bce)
    w = alpha * target + (1 - alpha) * (1 - target)
    return (w * (1 - p_t) ** gamma * bce).sum() / 8


@torch.no_grad()
def average_precision(net, x, y):
    net.eval()
    return average_precision_score(y.numpy(), net(x).float().numpy())


x_train, y_train = inspect(8000)
x_test, y_test = inspect(4000)
loader = DataLoader(TensorDataset(x_train, y_train), batch_size=32, shuffle=True, drop_last=True)

net = FourierNet(prior=float(y_train.mean()))
ema = copy.deepcopy(net).requires_grad_(False)
ACCUM, EPOCHS = 2, 15
opt = torch.optim.RAdam(net.parameters(), lr=4e-3, weight_decay=1e-5)
sched = torch.optim.lr_scheduler.OneCycleLR(
    opt, max_lr=4e-3, total_steps=EPOCHS * (len(loader) // ACCUM), cycle_momentum=False)

for epoch in range(EPOCHS):
    net.train()
    seen, total = 0, 0.0
    for i, (xb, yb) in enumerate(loader):
        if i >= len(loader) // ACCUM * ACCUM:
            break
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = net(xb)
        loss = focal(logits.float(), yb) / ACCUM
        loss.backward()
        total, seen = total + loss.item() * ACCUM, seen + 1
        if (i + 1) % ACCUM == 0:
            opt.step()
            sched.step()
            opt.zero_grad()
            update_ema(ema, net, 0.98)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1:2d} focal {total / seen:.4f} "
              f"AP {average_precision(net, x_test, y_test):.3f} "
              f"AP(ema) {average_precision(ema, x_test, y_test):.3f}")

print(f"test average precision {average_precision(ema, x_test, y_test):.3f} "
      f"(prevalence {y_test.mean().item():.3f})")
