"""Low-rank adaptation written by hand: pretrain on digits, adapt to their negatives turned by 90 degrees."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class LowRank(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 8, alpha: int = 16):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad = False
        self.down = nn.Parameter(torch.empty(r, base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + self.scale * F.linear(F.linear(x, self.down), self.up)

    def merged(self):
        out = nn.Linear(self.base.in_features, self.base.out_features)
        out.weight.data = self.base.weight + self.scale * self.up @ self.down
        out.bias.data = self.base.bias.clone()
        return out


def inject(net: nn.Sequential, r: int) -> None:
    for i, layer in enumerate(net):
        if isinstance(layer, nn.Linear):
            net[i] = LowRank(layer, r)


def batches(x, y, bs):
    for idx in torch.randperm(len(x)).split(bs):
        yield x[idx], y[idx]


def fit(net, x, y, opt, epochs, accumulate=1, tag=""):
    for ep in range(epochs):
        net.train()
        losses = []
        opt.zero_grad()
        for i, (xb, yb) in enumerate(batches(x, y, 32)):
            loss = F.cross_entropy(net(xb), yb)
            (loss / accumulate).backward()
            losses.append(loss.item())
            if (i + 1) % accumulate == 0:
                nn.utils.clip_grad_norm_([p for p in net.parameters() if p.requires_grad], 1.0)
                opt.step()
                opt.zero_grad()
        if (ep + 1) % max(1, epochs // 4) == 0:
            print(f"[{tag}] epoch {ep + 1} loss {np.mean(losses):.4f}")


@torch.no_grad()
def score(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


torch.manual_seed(0)
d = load_digits()
itr, ite = train_test_split(np.arange(len(d.target)), test_size=0.3, random_state=0, stratify=d.target)
upright = d.images / 16.0
turned = 1.0 - np.rot90(upright, axes=(1, 2))
as_x = lambda a, i: torch.tensor(a[i].reshape(len(i), -1).copy(), dtype=torch.float32) - 0.3
ytr, yte = torch.tensor(d.target[itr]), torch.tensor(d.target[ite])

net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 10))
fit(net, as_x(upright, itr), ytr, torch.optim.AdamW(net.parameters(), lr=2e-3), 30, tag="pretrain")
print("upright accuracy", round(score(net, as_x(upright, ite), yte), 4))
print("turned accuracy before adaptation", round(score(net, as_x(turned, ite), yte), 4))

inject(net, r=8)
trainable = [p for p in net.parameters() if p.requires_grad]
total = sum(p.numel() for p in net.parameters())
print(f"training {sum(p.numel() for p in trainable)} of {total} weights")
opt = torch.optim.SGD(trainable, lr=0.1, momentum=0.5)
fit(net, as_x(turned, itr), ytr, opt, 80, accumulate=2, tag="adapt")
print("turned accuracy", round(score(net, as_x(turned, ite), yte), 4))

flat = nn.Sequential(*[m.merged() if isinstance(m, LowRank) else m for m in net])
print("after merging", round(score(flat, as_x(turned, ite), yte), 4))
