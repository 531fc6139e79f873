"""Point-cloud classification of solids; the networks live in a registry."""
import math

import torch
import torch.nn.functional as F
from torch import nn

REGISTRY = {}
SHAPES = ["sphere", "cube", "cylinder", "cone", "torus"]


def register(name):
    def deco(cls):
        REGISTRY[name] = cls
        return cls
    return deco


def solid(kind, n):
    u, v = torch.rand(n) * 2 * math.pi, torch.rand(n)
    if kind == 0:
        p = F.normalize(torch.randn(n, 3), dim=1)
    elif kind == 1:
        p = torch.rand(n, 3) * 2 - 1
        axis = torch.randint(0, 3, (n,))
        p[torch.arange(n), axis] = torch.sign(torch.randn(n))
    elif kind == 2:
        p = torch.stack([u.cos(), u.sin(), v * 2 - 1], 1)
    elif kind == 3:
        p = torch.stack([v.sqrt() * u.cos(), v.sqrt() * u.sin(), 1 - 2 * v.sqrt()], 1)
    else:
        w = torch.rand(n) * 2 * math.pi
        p = torch.stack([(1 + 0.4 * w.cos()) * u.cos(), (1 + 0.4 * w.cos()) * u.sin(), 0.4 * w.sin()], 1)
    q, _ = torch.linalg.qr(torch.randn(3, 3))
    return (p * (0.5 + torch.rand(1)) @ q.T) + 0.03 * torch.randn(n, 3)


def clouds(n, points=64):
    y = torch.arange(n) % len(SHAPES)
    return torch.stack([solid(int(k), points) for k in y]), y


@register("radial")
class Radial(nn.Module):
    """Rotation-free features: sorted distances to the centre, as log-probabilities."""

    def __init__(self, k):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, k))

    def forward(self, x):
        r = (x - x.mean(1, keepdim=True)).norm(dim=2).sort(1).values
        return F.log_softmax(self.net(r / r.mean(1, keepdim=True)), dim=1)


@register("deepset")
class DeepSet(nn.Module):
    def __init__(self, k, width=64):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, width))
        self.head = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, k))

    def forward(self, x):
        x = x - x.mean(1, keepdim=True)
        r = x.norm(dim=2, keepdim=True)
        s = r.mean(1, keepdim=True)
        h = self.point(torch.cat([x / s, r / s], 2))
        return F.log_softmax(self.head(torch.cat([h.amax(1), h.mean(1)], 1)), dim=1)


def fit(name, train, test, epochs=40):
    torch.manual_seed(2)
    model = REGISTRY[name](len(SHAPES))
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    x, y = train
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for idx in torch.randperm(len(y)).split(50):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 10 == 0:
            print(f"{name:8s} epoch {epoch:2d} loss {total / len(y):.4f}")
    model.eval()
    with torch.no_grad():
        out = model(test[0])
    return (out.argmax(1) == test[1]).float().mean().item(), F.nll_loss(out, test[1]).item()


if __name__ == "__main__":
    torch.manual_seed(1)
    train, test = clouds(2000), clouds(500)
    for name in REGISTRY:
        acc, nll = fit(name, train, test)
        print(f"{name}: test accuracy {acc:.4f}  nll {nll:.4f}  (chance {1 / len(SHAPES):.2f})")
