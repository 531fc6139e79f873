"""Sharpness-aware minimisation on 8x8 digits, SGD with a large rate, mixup, an EMA copy for the test."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class SAM:
    """Two gradient evaluations per step: climb to the worst neighbour, come back, descend."""

    def __init__(self, params, base, rho=0.05):
        self.params = [p for p in params if p.requires_grad]
        self.base = base
        self.rho = rho
        self.moves = None

    @torch.no_grad()
    def climb(self):
        norm = torch.stack([p.grad.norm() for p in self.params]).norm() + 1e-12
        self.moves = [p.grad * (self.rho / norm) for p in self.params]
        for p, m in zip(self.params, self.moves):
            p.add_(m)
            p.grad = None

    @torch.no_grad()
    def descend(self):
        for p, m in zip(self.params, self.moves):
            p.sub_(m)
        self.base.step()
        self.base.zero_grad()


def batchnorm_momentum(model, value):
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):
            m.momentum = value


def build(width=24):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(2 * width), nn.ReLU(),
        nn.Conv2d(2 * width, 2 * width, 3, padding=1, bias=False), nn.BatchNorm2d(2 * width), nn.ReLU(),
        nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(8 * width, 10))


def mixup(x, y, alpha=0.3):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    j = torch.randperm(len(x))
    target = F.one_hot(y, 10).float()
    return lam * x + (1 - lam) * x[j], lam * target + (1 - lam) * target[j]


@torch.no_grad()
def update_ema(ema, model, decay):
    for e, p in zip(ema.parameters(), model.parameters()):
        e.lerp_(p, 1 - decay)
    for e, b in zip(ema.buffers(), model.buffers()):
        e.copy_(b)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=14)
    ap.add_argument("--lr", type=float, default=0.4)
    ap.add_argument("--rho", type=float, default=0.05)
    ap.add_argument("--ema", type=float, default=0.95)
    a = ap.parse_args()
    torch.manual_seed(1)

    d = load_digits()
    tr, te = train_test_split(range(len(d.target)), test_size=0.3, stratify=d.target, random_state=1)
    X = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
    Y = torch.tensor(d.target)
    Xtr, Ytr, Xte, Yte = X[tr], Y[tr], X[te], Y[te]

    model = build()
    ema = copy.deepcopy(model).requires_grad_(False)
    sgd = torch.optim.SGD(model.parameters(), lr=a.lr, momentum=0.8, weight_decay=1e-4)
    sam = SAM(model.parameters(), sgd, a.rho)
    steps = a.epochs * ((len(Xtr) + 63) // 64)
    sched = torch.optim.lr_scheduler.OneCycleLR(sgd, max_lr=a.lr, total_steps=steps, cycle_momentum=False)

    for epoch in range(a.epochs):
        model.train()
        seen = 0.0
        for idx in torch.randperm(len(Xtr)).split(64):
            x, t = mixup(Xtr[idx], Ytr[idx])
            batchnorm_momentum(model, 0.1)
            loss = F.cross_entropy(model(x), t, label_smoothing=0.05)
            loss.backward()
            sam.climb()
            batchnorm_momentum(model, 0.0)      # statistics come from the first pass only
            F.cross_entropy(model(x), t, label_smoothing=0.05).backward()
            sam.descend()
            sched.step()
            update_ema(ema, model, a.ema)
            seen += loss.item() * len(idx)
        print(f"epoch {epoch:2d}  mixup loss {seen / len(Xtr):.3f}  test {accuracy(model, Xte, Yte):.4f}  "
              f"ema {accuracy(ema, Xte, Yte):.4f}")
    print(f"test accuracy of the averaged model: {accuracy(ema, Xte, Yte):.4f} (chance 0.10)")


if __name__ == "__main__":
    main()
