"""Galaxy morphology (3 classes) from 32x32 stamps with a small ResNet.  python galaxy_shapes.py --epochs 8"""
import argparse
import json
import os

import numpy as np
import torch
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

SIDE = 32


def stamp(kind, rng):
    y, x = np.mgrid[0:SIDE, 0:SIDE] - (SIDE - 1) / 2 + rng.normal(0, 1.0, 2)[:, None, None]
    pa, q = rng.uniform(0, np.pi), {0: rng.uniform(0.6, 1.0), 1: rng.uniform(0.5, 1.0), 2: rng.uniform(0.5, 0.9)}[kind]
    u, v = np.cos(pa) * x + np.sin(pa) * y, (-np.sin(pa) * x + np.cos(pa) * y) / q
    r, phi = np.hypot(u, v) + 1e-3, np.arctan2(v, u)
    re = rng.uniform(4, 6.5)
    if kind == 0:      # elliptical
        img = np.exp(-2.2 * (r / re) ** 0.7)
    elif kind == 1:    # spiral
        arms = 1 + 0.9 * np.cos(2 * phi - rng.choice([-1, 1]) * 3.0 * np.log(r))
        img = np.exp(-r / re) * arms * 0.6 + 0.6 * np.exp(-(r / 2) ** 2)
    else:              # barred
        bar = np.exp(-(v / 1.4) ** 2 - (u / (1.3 * re)) ** 4)
        img = 0.45 * np.exp(-r / re) + 0.6 * bar
    return (img / img.max() + rng.normal(0, 0.12, img.shape)).astype(np.float32)


def catalogue(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    x = np.stack([stamp(int(k), rng) for k in y])[:, None]
    return TensorDataset(torch.from_numpy(np.arcsinh(3 * x)), torch.from_numpy(y))


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(cin, cout, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(),
            nn.Conv2d(cout, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout),
        )
        self.skip = nn.Conv2d(cin, cout, 1, stride=2, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.skip(x))


def resnet(widths=(8, 16, 32)):
    blocks, cin = [], 1
    for w in widths:
        blocks.append(Block(cin, w))
        cin = w
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(cin, 3))


def augment(x):
    if torch.rand(()) < 0.5:
        x = x.flip(-1)
    return torch.rot90(x, int(torch.randint(0, 4, ())), dims=(-2, -1))


@torch.inference_mode()
def accuracy(net, loader):
    net.eval()
    return float(np.mean([(net(x).argmax(1) == y).float().mean().item() for x, y in loader]))


def train(opt):
    torch.manual_seed(opt.seed)
    tr = DataLoader(catalogue(1200, 1), opt.batch, shuffle=True, drop_last=True)
    te = DataLoader(catalogue(400, 2), 100)
    net = resnet()
    sgd = SGD(net.parameters(), lr=opt.lr, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = StepLR(sgd, step_size=opt.step, gamma=0.2)
    crit = nn.CrossEntropyLoss()
    log = []
    for ep in range(opt.epochs):
        net.train()
        run = 0.0
        for x, y in tr:
            sgd.zero_grad(set_to_none=True)
            loss = crit(net(augment(x)), y)
            loss.backward()
            sgd.step()
            schedule.step()
            run += loss.item()
        log.append({"epoch": ep, "loss": round(run / len(tr), 4), "test_acc": round(accuracy(net, te), 4)})
        print(log[-1])
    os.makedirs("out", exist_ok=True)
    with open("out/galaxy_log.json", "w") as fh:
        json.dump(log, fh)
    print(f"final test accuracy {accuracy(net, te):.3f} (guessing 0.333)")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=9)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=0.03)
    ap.add_argument("--step", type=int, default=4)
    ap.add_argument("--seed", type=int, default=0)
    train(ap.parse_args())
