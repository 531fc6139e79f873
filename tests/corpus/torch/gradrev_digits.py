"""Domain-adversarial training (Ganin & Lempitsky 2015): digits -> inverted, shifted digits, no target labels."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.scale * grad, None


class DANN(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, width), nn.ReLU())
        self.label = nn.Linear(width, 10)
        self.domain = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x, scale=0.0):
        h = self.features(x)
        return self.label(h), self.domain(GradReverse.apply(h, scale)).squeeze(1)


def load(seed=0):
    x, y = load_digits(return_X_y=True)
    x = (x / 16).astype(np.float32)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(x))
    src, tgt = order[:900], order[900:]
    mix = np.eye(64, dtype=np.float32) + rng.normal(0, 0.11, (64, 64)).astype(np.float32)
    xt = x[tgt] @ mix + 0.25
    to = torch.from_numpy
    return to(x[src] - 0.3), to(y[src]), to(xt - 0.3), to(y[tgt])


def target_accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x)[0].argmax(1) == y).float().mean().item()


def train(adapt, steps=1500, batch=64):
    torch.manual_seed(0)
    xs, ys, xt, yt = load()
    net = DANN()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    for step in range(steps):
        net.train()
        p = step / steps
        scale = (2 / (1 + math.exp(-10 * p)) - 1) * adapt
        for group in opt.param_groups:
            group["lr"] = 0.05 / (1 + 10 * p) ** 0.75
        i = torch.randint(0, len(xs), (batch,))
        j = torch.randint(0, len(xt), (batch,))
        logits, dom = net(torch.cat([xs[i], xt[j]]), scale)
        where = torch.cat([torch.ones(batch), torch.zeros(batch)])
        label_loss = F.cross_entropy(logits[:batch], ys[i])
        domain_loss = F.binary_cross_entropy_with_logits(dom, where)
        opt.zero_grad()
        (label_loss + domain_loss).backward()
        opt.step()
        if step % 250 == 249:
            print(f"  step {step + 1} label {label_loss.item():.4f} domain {domain_loss.item():.4f} "
                  f"target acc {target_accuracy(net, xt, yt):.3f}")
    return target_accuracy(net, xt, yt)


if __name__ == "__main__":
    print("source only")
    plain = train(adapt=0.0)
    print("adversarial")
    adapted = train(adapt=0.3)
    print(f"target accuracy {plain:.3f} -> {adapted:.3f}")
