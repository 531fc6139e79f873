import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(9)
torch.manual_seed(9)


def plate(size=32):
    yy, xx = np.mgrid[0:size, 0:size]
    mask = np.zeros((size, size), dtype=bool)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(5, size - 5, 2)
        ry, rx = rng.uniform(2.5, 6, 2)
        mask |= ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
    light = rng.uniform(-0.3, 0.3) * (xx / size)
    img = mask * rng.uniform(0.7, 1.2) + light + rng.normal(0, 0.4, mask.shape)
    return img[None].astype("float32"), mask[None].astype("float32")


def plates(n):
    a, b = zip(*(plate() for _ in range(n)))
    return torch.from_numpy(np.stack(a)), torch.from_numpy(np.stack(b))


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(),
                         nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, c), block(c, 2 * c), block(2 * c, 4 * c)
        self.u2, self.u1 = block(6 * c, 2 * c), block(3 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.out(y)


def soft_dice(logits, target, eps=1.0):
    p = torch.sigmoid(logits)
    inter = (p * target).sum((1, 2, 3))
    return ((2 * inter + eps) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


def criterion(logits, target):
    bce = F.binary_cross_entropy_with_logits(logits, target)
    return 0.3 * bce + soft_dice(logits, target)


def iou(logits, target):
    p = logits > 0
    t = target > 0.5
    return ((p & t).sum((1, 2, 3)) / (p | t).sum((1, 2, 3)).clamp(min=1)).mean().item()


X, Y = plates(640)
XV, YV = plates(128)
net = TinyUNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for ep in range(8):
    net.train()
    order = torch.randperm(len(X))
    tot = 0.0
    for i in range(0, len(X), 32):
        j = order[i:i + 32]
        flip = [3] if np.random.rand() < 0.5 else [2]
        x, y = X[j].flip(flip), Y[j].flip(flip)
        loss = criterion(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(j)
    net.eval()
    with torch.no_grad():
        lv = net(XV)
    print(f"ep {ep} train {tot / len(X):.4f} val {criterion(lv, YV).item():.4f} iou {iou(lv, YV):.3f}")
