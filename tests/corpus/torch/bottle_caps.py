"""Prototype memory for few-colour bottle caps: features are pulled to a slowly moving class centre."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=400)
p.add_argument("--tau", type=float, default=0.15)
p.add_argument("--momentum", type=float, default=0.9)
p.add_argument("--dim", type=int, default=32)
args = p.parse_args()
torch.manual_seed(5)

K, S = 6, 20


def render(n, gen):
    y = torch.randint(0, K, (n,), generator=gen)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, S), torch.linspace(-1, 1, S), indexing="ij")
    shift = 0.08 * torch.randn(n, 2, 1, 1, generator=gen)
    r = ((xx - shift[:, 0]) ** 2 + (yy - shift[:, 1]) ** 2).sqrt()
    ang = torch.atan2(yy - shift[:, 1], xx - shift[:, 0])
    teeth = (y.view(-1, 1, 1) // 2 * 3 + 1).float()
    phase = 2 * math.pi * torch.rand(n, 1, 1, generator=gen)
    rim = ((r - 0.65 - 0.12 * torch.cos(teeth * ang + phase)).abs() < 0.12).float()
    logo = (r < 0.15 + 0.2 * (y % 2).view(-1, 1, 1)).float()
    tint = 0.6 + 0.4 * torch.rand(n, 3, 1, 1, generator=gen)
    x = torch.stack([rim, logo, 0.5 * (rim + logo)], 1) * tint
    return x + 0.1 * torch.randn(x.shape, generator=gen) - 0.25, y


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.BatchNorm2d(48), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(48 * 25, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class Memory:
    def __init__(self, k, dim, m):
        self.bank = F.normalize(torch.randn(k, dim), dim=-1)
        self.m = m

    def update(self, z, y):
        onehot = F.one_hot(y, self.bank.size(0)).float()
        count = onehot.sum(0).clamp(min=1).unsqueeze(1)
        centre = onehot.t() @ z / count
        seen = (onehot.sum(0) > 0).unsqueeze(1)
        moved = F.normalize(self.m * self.bank + (1 - self.m) * centre, dim=-1)
        self.bank = torch.where(seen, moved, self.bank)

    def scores(self, z):
        return z @ self.bank.t()


gen = torch.Generator().manual_seed(11)
train_x, train_y = render(3000, gen)
test_x, test_y = render(600, gen)

enc = Encoder(args.dim)
mem = Memory(K, args.dim, args.momentum)
opt = torch.optim.AdamW(enc.parameters(), lr=2e-3, weight_decay=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.steps)

for step in range(args.steps):
    idx = torch.randint(0, len(train_x), (64,))
    x, y = train_x[idx], train_y[idx]
    z = enc(x)
    pull = F.cross_entropy(mem.scores(z) / args.tau, y)
    apart = (z @ z.t() / args.tau).masked_fill(y[:, None] == y[None], -30.0)
    loss = pull + 0.5 * torch.logsumexp(apart, dim=1).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    mem.update(z, y)
    if step % 50 == 0:
        enc.eval()
        with torch.no_grad():
            acc = (mem.scores(enc(test_x)).argmax(1) == test_y).float().mean()
        enc.train()
        print(f"step {step:4d} loss {loss.item():.3f} acc {acc.item():.3f}")

enc.eval()
with torch.no_grad():
    print("final acc", (mem.scores(enc(test_x)).argmax(1) == test_y).float().mean().item())
