import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

p = argparse.ArgumentParser(description="classify direction signs on 24x24 grey images")
p.add_argument("--epochs", type=int, default=18)
p.add_argument("--lr", type=float, default=2e-3)
p.add_argument("--batch", type=int, default=64)
p.add_argument("--seed", type=int, default=1)
args = p.parse_args()
torch.manual_seed(args.seed)
rng = np.random.default_rng(args.seed)

CLASSES = ["left", "right", "straight", "no_entry"]


def draw(kind):
    img = np.zeros((24, 24), np.float32)
    cy, cx = rng.integers(9, 15), rng.integers(9, 15)
    arm = rng.integers(5, 8)
    if kind in (0, 1):
        img[cy - 1:cy + 1, max(cx - arm, 0):cx + arm] = 1
        tip, d = (cx - arm, 1) if kind == 0 else (cx + arm - 1, -1)
        for k in range(5):
            for s in (-1, 1):
                y, x = cy + s * k, tip + d * k
                if 0 <= y < 24 and 0 <= x < 24:
                    img[y, x] = 1
    elif kind == 2:
        img[max(cy - arm, 0):cy + arm, cx - 1:cx + 1] = 1
        for k in range(5):
            for s in (-1, 1):
                img[min(max(cy - arm + k, 0), 23), cx + s * k] = 1
    else:
        yy, xx = np.mgrid[:24, :24]
        r = np.hypot(yy - cy, xx - cx)
        img[np.abs(r - arm) < 1] = 1
        img[cy - 1:cy + 1, cx - 3:cx + 4] = 1
    img *= rng.uniform(0.6, 1.2)
    return img + 0.25 * rng.standard_normal((24, 24)).astype(np.float32)


def build(n):
    y = rng.integers(0, len(CLASSES), n)
    x = np.stack([draw(k) for k in y])
    return torch.from_numpy(x).float().unsqueeze(1), torch.from_numpy(y)


class Augment:
    """Random shift, brightness and mirror, applied to a whole batch."""

    def __init__(self, shift=2, jitter=0.2, mirror=0.0):
        self.shift, self.jitter, self.mirror = shift, jitter, mirror

    def __call__(self, x):
        dy, dx = torch.randint(-self.shift, self.shift + 1, (2,)).tolist()
        x = torch.roll(x, (dy, dx), (2, 3))
        x = x * (1 + self.jitter * (2 * torch.rand(len(x), 1, 1, 1) - 1))
        flip = torch.rand(len(x)) < self.mirror
        x[flip] = x[flip].flip(-1)
        return x


class SignNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12)
        self.c2, self.b2 = nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24)
        self.fc1, self.fc2 = nn.Linear(24 * 36, 64), nn.Linear(64, len(CLASSES))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.b2(self.c2(x))), 2)
        return self.fc2(F.dropout(F.relu(self.fc1(x.flatten(1))), 0.2, self.training))


xtr, ytr = build(2400)
xva, yva = build(600)
net, augment = SignNet(), Augment()
opt = torch.optim.Adam(net.parameters(), lr=args.lr)

for epoch in range(args.epochs):
    net.train()
    order = torch.randperm(len(xtr))
    tot = 0.0
    for idx in order.split(args.batch):
        xb, yb = augment(xtr[idx].clone()), ytr[idx]
        loss = F.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(idx)
    net.eval()
    with torch.no_grad():
        pred = net(xva).argmax(1)
    print(f"epoch {epoch + 1}: loss {tot / len(xtr):.3f}  val acc {(pred == yva).float().mean():.3f}")

for k, name in enumerate(CLASSES):
    print(f"{name:9s} recall {(pred[yva == k] == k).float().mean():.3f}")
