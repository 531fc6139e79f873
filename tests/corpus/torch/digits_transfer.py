"""Transfer study on the 8x8 digits: pretrain on 0-4, adapt to 5-9 with few labels.

Recipe: keep stem + block1 from the checkpoint, restart block2 and the classifier
(the source task has over-specialised there).  Control: same network, trained from scratch.
"""
import argparse
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

OUT = Path("out")
OUT.mkdir(exist_ok=True)


class Block(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.skip = nn.Conv2d(cin, cout, 1, stride, bias=False)

    def forward(self, x):
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + self.skip(x))


class Net(nn.Module):
    def __init__(self, n_out=5):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        self.block1 = Block(16, 32, 2)
        self.block2 = Block(32, 48, 2)
        self.head = nn.Linear(48, n_out)

    def forward(self, x):
        return self.head(self.block2(self.block1(self.stem(x))).mean((2, 3)))


def reset(module):
    for m in module.modules():
        if hasattr(m, "reset_parameters"):
            m.reset_parameters()


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


def jitter(x, g):
    dx, dy = torch.randint(-1, 2, (2,), generator=g).tolist()
    return torch.roll(x, (dx, dy), (2, 3))


def fit(net, x, y, groups, epochs, frozen=(), seed=0):
    g = torch.Generator().manual_seed(seed)
    opt = torch.optim.AdamW(groups, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for _ in range(epochs):
        net.train()
        for m in frozen:
            m.eval()
        for idx in torch.randperm(len(x), generator=g).split(32):
            if len(idx) < 2:
                continue
            loss = F.cross_entropy(net(jitter(x[idx], g)), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
    return loss.item()


def main(a):
    torch.manual_seed(a.seed)
    d = load_digits()
    X = torch.tensor(d.images, dtype=torch.float32)[:, None] / 8 - 1
    Y = torch.tensor(d.target)
    src, tgt = Y < 5, Y >= 5
    xs, xsv, ys, ysv = train_test_split(X[src], Y[src], test_size=0.3, random_state=1, stratify=Y[src])
    xt, xtv, yt, ytv = train_test_split(X[tgt], Y[tgt] - 5, train_size=5 * a.shots, random_state=2,
                                        stratify=Y[tgt])

    net = Net()
    fit(net, xs, ys, [{"params": net.parameters(), "lr": 3e-3}], epochs=10)
    torch.save({"model": net.state_dict(), "classes": [0, 1, 2, 3, 4]}, OUT / "source.pt")

    # --- adapted network
    ckpt = torch.load(OUT / "source.pt")
    net = Net()
    net.load_state_dict(ckpt["model"])
    print(f"checkpoint on its own task: {accuracy(net, xsv, ysv):.3f}")
    print(f"checkpoint on the new digits, untouched: {accuracy(net, xtv, ytv):.3f} (other classes, for reference)")
    reset(net.block2)
    reset(net.head)
    for p in net.stem.parameters():
        p.requires_grad_(False)
    fit(net, xt, yt, [{"params": net.block1.parameters(), "lr": 3e-4},
                      {"params": net.block2.parameters(), "lr": 3e-3},
                      {"params": net.head.parameters(), "lr": 3e-3}], a.epochs, frozen=[net.stem, net.block1])
    adapted = accuracy(net, xtv, ytv)

    # --- control
    scratch = Net()
    scratch.load_state_dict(ckpt["model"])
    print(f"control, before its weights are drawn anew: {accuracy(scratch, xsv, ysv):.3f} on the source task")
    reset(scratch)
    fit(scratch, xt, yt, [{"params": scratch.parameters(), "lr": 3e-3}], a.epochs)
    base = np.bincount(ytv.numpy()).max() / len(ytv)
    print(f"held-out digits 5-9 | majority {base:.3f} | from scratch {accuracy(scratch, xtv, ytv):.3f} "
          f"| adapted {adapted:.3f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--shots", type=int, default=8)
    p.add_argument("--epochs", type=int, default=40)
    p.add_argument("--seed", type=int, default=3)
    main(p.parse_args())
