"""Noisy-student self-training on scanned digits: 80 labels, the rest unlabelled."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.0 - 0.3
Y = torch.tensor(digits.target)
perm = torch.randperm(len(X), generator=torch.Generator().manual_seed(4))
lab, unl, test = perm[:80], perm[80:1400], perm[1400:]


def build(width):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.3), nn.Linear(2 * width * 16, 64), nn.ReLU(), nn.Linear(64, 10))


def jitter(x):
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(x, (dy, dx), dims=(2, 3)) + 0.15 * torch.randn_like(x)


def run(net, opt, x, target, weight, steps, tag):
    net.train()
    hist = []
    for step in range(steps):
        b = torch.randint(0, len(x), (64,))
        logp = F.log_softmax(net(jitter(x[b])), dim=1)
        loss = -(weight[b] * (target[b] * logp).sum(1)).sum() / weight[b].sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
        hist.append(loss.item())
    print(f"{tag}: loss {sum(hist[:20]) / 20:.3f} -> {sum(hist[-20:]) / 20:.3f}")


@torch.no_grad()
def proba(net, x):
    net.eval()
    return F.softmax(net(x), dim=1)


def accuracy(net, idx):
    return (proba(net, X[idx]).argmax(1) == Y[idx]).float().mean().item()


net = build(8)
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
hard = F.one_hot(Y[lab], 10).float()
run(net, opt, X[lab], hard, torch.ones(len(lab)), 250, "teacher")
print("teacher acc", round(accuracy(net, test), 3))

for gen in range(3):
    teacher = copy.deepcopy(net)
    q = proba(teacher, X[unl])
    conf = q.max(1).values
    keep = conf > 0.6
    soft = q[keep] ** 2 / (q[keep] ** 2).sum(1, keepdim=True)
    x = torch.cat([X[lab], X[unl][keep]])
    t = torch.cat([hard, soft])
    w = torch.cat([torch.full((len(lab),), 2.0), conf[keep]])

    net = build(12 + 4 * gen)
    run(net, opt, x, t, w, 300, f"student {gen} ({int(keep.sum())} pseudo)")
    print(f"student {gen} acc", round(accuracy(net, test), 3))
