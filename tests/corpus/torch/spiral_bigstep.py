"""Full-batch gradient descent with momentum and a large step on three spirals."""
import math

import torch
from torch import nn

torch.manual_seed(9)


def spirals(n):
    k = torch.arange(3).repeat_interleave(n)
    r = torch.rand(3 * n).sqrt() * 0.95 + 0.05
    a = 4.2 * r + k * 2 * math.pi / 3 + 0.08 * torch.randn(3 * n)
    xy = torch.stack([r * a.cos(), r * a.sin()], 1)
    return xy, k


def features(xy):
    r = xy.norm(dim=1, keepdim=True)
    waves = [f(w * xy) for w in (1.5, 3.0, 6.0) for f in (torch.sin, torch.cos)]
    return torch.cat([xy, r] + waves, 1)


class ScaledTanhNet(nn.Module):
    def __init__(self, d_in, width=96, depth=2):
        super().__init__()
        dims = [d_in] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims, dims[1:]))
        self.last = nn.Linear(width, 3)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)
        for l in self.layers:
            nn.init.xavier_uniform_(l.weight)

    def forward(self, x):
        for l in self.layers:
            x = torch.tanh(l(x))
        return self.last(x) / 4


xtr, ytr = spirals(1000)
xte, yte = spirals(300)
ftr, fte = features(xtr), features(xte)
mean, std = ftr.mean(0), ftr.std(0)
ftr, fte = (ftr - mean) / std, (fte - mean) / std

net = ScaledTanhNet(ftr.shape[1])
opt = torch.optim.SGD(net.parameters(), lr=1.5, momentum=0.8)
for it in range(1, 2401):
    loss = nn.functional.cross_entropy(net(ftr), ytr)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 150 == 0:
        with torch.no_grad():
            acc = (net(fte).argmax(1) == yte).float().mean().item()
        print(f"iter {it:4d} loss {loss.item():.4f} test acc {acc:.3f}")
