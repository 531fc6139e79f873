"""Dial reading network for a small chip: prune, rewind, prune again, then train with rounding in the loop."""
import copy
import math
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(9)


def dials(n, seed):
    g = torch.Generator().manual_seed(seed)
    cls = torch.randint(0, 8, (n,), generator=g)
    ang = (cls.float() + 0.7 * (torch.rand(n, generator=g) - 0.5)) * math.pi / 4
    r = torch.linspace(-1, 1, 14)
    yy, xx = torch.meshgrid(r, r, indexing="ij")
    dx, dy = ang.cos()[:, None, None], ang.sin()[:, None, None]
    along, across = xx * dx + yy * dy, xx * dy - yy * dx
    img = torch.exp(-(across / 0.15) ** 2) * ((along > 0) & (along < 0.9)).float()
    return (img + 0.5 * torch.randn(n, 14, 14, generator=g)).flatten(1), cls


class RoundTo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w, bits):
        top = 2 ** (bits - 1) - 1
        scale = w.abs().max() / top
        return torch.round(w / scale) * scale

    @staticmethod
    def backward(ctx, g):
        return g, None          # straight through


class MaskedLinear(nn.Linear):
    bits = None

    def __init__(self, i, o):
        super().__init__(i, o)
        self.register_buffer("mask", torch.ones(o, i))

    def forward(self, x):
        w = self.weight * self.mask
        if self.bits:
            w = RoundTo.apply(w, self.bits)
        return F.linear(x, w, self.bias)


def build():
    return nn.Sequential(MaskedLinear(196, 96), nn.ReLU(), MaskedLinear(96, 48), nn.ReLU(), MaskedLinear(48, 8))


xt, yt = dials(3000, 1)
xv, yv = dials(1000, 2)
xs, ys = dials(1500, 3)


@torch.no_grad()
def accuracy(net, x, y):
    return (net(x).argmax(1) == y).float().mean().item()


def train(net, epochs, lr=1e-3, snapshot_at=None):
    """Returns the weights after `snapshot_at` batches, to which later rounds rewind."""
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    snap, seen, best, kept = None, 0, -1.0, None
    for _ in range(epochs):
        for i in torch.randperm(len(xt)).split(100):
            if seen == snapshot_at:
                snap = {k: v.clone() for k, v in net.state_dict().items() if not k.endswith("mask")}
            loss = F.cross_entropy(net(xt[i]), yt[i], label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += 1
        a = accuracy(net, xv, yv)
        if a > best:
            best, kept = a, copy.deepcopy(net.state_dict())
    net.load_state_dict(kept)
    return snap


@torch.no_grad()
def prune(net, share):
    for m in net:
        if isinstance(m, MaskedLinear):
            alive = m.weight[m.mask.bool()].abs()
            k = int(share * len(alive))
            cut = alive.kthvalue(k).values
            m.mask *= (m.weight.abs() > cut).float()


def density(net):
    a = [m.mask for m in net if isinstance(m, MaskedLinear)]
    return sum(m.sum().item() for m in a) / sum(m.numel() for m in a)


net = build()
early = train(net, 12, snapshot_at=60)
print(f"dense: val {accuracy(net, xv, yv):.3f} test {accuracy(net, xs, ys):.3f}")
for r in range(5):
    prune(net, 0.4)
    net.load_state_dict(early, strict=False)
    train(net, 12)
    print(f"round {r}: {density(net):.3f} of the weights left, val {accuracy(net, xv, yv):.3f} test {accuracy(net, xs, ys):.3f}")

MaskedLinear.bits = 3
print(f"rounded to 3 bits without training: test {accuracy(net, xs, ys):.3f}")
train(net, 10, lr=5e-4)
print(f"after training with rounding: test {accuracy(net, xs, ys):.3f}")
zero = all((RoundTo.apply(m.weight * m.mask, 3)[m.mask == 0] == 0).all() for m in net if isinstance(m, MaskedLinear))
print("pruned weights still zero:", bool(zero))
