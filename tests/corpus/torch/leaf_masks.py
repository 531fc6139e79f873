"""Leaf segmentation with a small U-shaped net; reports IoU over the whole validation set."""
import resource

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
PIX = 64


def leaves(n, seed):
    g = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:PIX, 0:PIX]
    imgs = np.empty((n, 3, PIX, PIX), np.float32)
    masks = np.empty((n, 1, PIX, PIX), np.float32)
    for i in range(n):
        cx, cy = g.uniform(18, PIX - 18, 2)
        a, b, th = g.uniform(10, 20), g.uniform(5, 10), g.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        m = ((u / a) ** 2 + (v / b) ** 2 < 1).astype(np.float32)
        soil = g.normal(0.4, 0.25, (3, PIX, PIX))
        imgs[i] = soil + m * np.array([-0.15, 0.3, -0.1])[:, None, None]
        masks[i, 0] = m
    return torch.from_numpy(imgs), torch.from_numpy(masks)


def conv(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.GroupNorm(4, b), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.d1, self.d2, self.mid = conv(3, c), conv(c, 2 * c), conv(2 * c, 2 * c)
        self.u2, self.u1 = conv(4 * c, c), conv(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([F.interpolate(m, scale_factor=2.0), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2.0), a], 1))
        return self.out(y)


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def validate(net, x, y, batch=20):
    net.eval()
    logits = []
    for i in range(0, len(x), batch):
        logits.append(net(x[i:i + batch]))
    logits = torch.cat(logits)
    loss = F.binary_cross_entropy_with_logits(logits, y).item()
    pred = logits > 0
    inter = (pred & (y > 0.5)).sum((1, 2, 3)).float()
    union = (pred | (y > 0.5)).sum((1, 2, 3)).float()
    return loss, (inter / union.clamp(min=1)).mean().item()


train_x, train_y = leaves(400, 1)
val_x, val_y = leaves(1000, 2)
net = SmallUNet()
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
print(f"data ready, peak memory {peak_mb():.0f} MB")

for epoch in range(4):
    net.train()
    total = 0.0
    for idx in torch.randperm(len(train_x)).split(10):
        loss = F.binary_cross_entropy_with_logits(net(train_x[idx]), train_y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    print(f"epoch {epoch} train {total / len(train_x):.4f} peak memory {peak_mb():.0f} MB")
    val_loss, val_iou = validate(net, val_x, val_y)
    print(f"         val {val_loss:.4f} iou {val_iou:.3f} peak memory {peak_mb():.0f} MB")
