"""Radar pixels: hail or rain?  A classifier that should stay right under small calibration errors ("free" adversarial training)."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

p = argparse.ArgumentParser()
p.add_argument("--replays", type=int, default=4)
p.add_argument("--epochs", type=int, default=24)
p.add_argument("--eps", type=float, default=0.25)
p.add_argument("--batch", type=int, default=100)
p.add_argument("--lr", type=float, default=0.05)
cfg = p.parse_args()
torch.manual_seed(2)


def radar(n):
    y = torch.randint(0, 3, (n,))
    centre = torch.tensor([[1.2, 0.0], [-0.6, 1.0], [-0.6, -1.0]])[y]
    strong = centre + 0.25 * torch.randn(n, 2)
    weak = 0.12 * centre.repeat(1, 9) + 0.15 * torch.randn(n, 18)
    return torch.cat([strong, weak], 1), y


def fgsm(model, x, y, eps):
    x = x.clone().requires_grad_(True)
    grad, = torch.autograd.grad(F.cross_entropy(model(x), y), x)
    return (x + eps * grad.sign()).detach()


def score(model, x, y):
    with torch.no_grad():
        clean = (model(x).argmax(1) == y).float().mean().item()
    bad = fgsm(model, x, y, cfg.eps)
    with torch.no_grad():
        return clean, (model(bad).argmax(1) == y).float().mean().item()


x_train, y_train = radar(2000)
x_test, y_test = radar(1000)
loader = DataLoader(TensorDataset(x_train, y_train), cfg.batch, shuffle=True, drop_last=True)


def train(replays):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    opt = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9)
    delta = torch.zeros(cfg.batch, 20)
    for epoch in range(cfg.epochs // replays):
        for x, y in loader:
            for _ in range(replays):
                noise = delta.clone().requires_grad_(replays > 1)
                loss = F.cross_entropy(model(x + noise), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
                if replays > 1:
                    delta = (delta + cfg.eps * noise.grad.sign()).clamp(-cfg.eps, cfg.eps)
    print(f"last loss {loss.item():.4f}")
    return model


for name, replays in (("plain", 1), ("free adversarial", cfg.replays)):
    clean, robust = score(train(replays), x_test, y_test)
    print(f"{name:17s} clean {clean:.3f}  under attack {robust:.3f}")
