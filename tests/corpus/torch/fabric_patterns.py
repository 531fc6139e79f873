"""Classify fabric swatches (weave pattern x tint) from small colour crops."""
import math

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, Subset

KINDS = ["stripes", "checks", "dots", "twill", "zigzag", "plain"]
FULL, CROP = 28, 24


def swatch(kind, rng):
    yy, xx = np.mgrid[:FULL, :FULL].astype(np.float32)
    period = rng.uniform(5, 8)
    w = 2 * math.pi / period
    px, py = rng.uniform(0, 2 * math.pi, 2)
    if kind == 0:
        g = np.sin(w * xx + px)
    elif kind == 1:
        g = np.sign(np.sin(w * xx + px)) * np.sign(np.sin(w * yy + py))
    elif kind == 2:
        g = np.sin(w * xx + px) + np.sin(w * yy + py) - 0.8
    elif kind == 3:
        g = np.sin(w * (xx + yy) / 1.4 + px)
    elif kind == 4:
        g = np.sin(w * (yy + np.abs((xx + 20 * px) % period - period / 2)) + py)
    else:
        g = np.zeros_like(xx)
    # dyed in warm or cold tint: the second half of the class index
    tint = int(rng.integers(2))
    base = np.array([0.62, 0.48, 0.40] if tint else [0.44, 0.48, 0.58], dtype=np.float32)
    img = base[:, None, None] + 0.10 * g[None] + rng.normal(0, 0.05, (3, FULL, FULL))
    return img.astype(np.float32), kind + tint * len(KINDS)


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, x):
        for s in self.steps:
            x = s(x)
        return x


def random_crop(x):
    # pad with reflections, crop anywhere, rescale a random share of the picture
    side = int(torch.randint(10, CROP + 1, ()))
    i, j = torch.randint(0, FULL - side + 1, (2,)).tolist()
    crop = x[:, i:i + side, j:j + side]
    return nn.functional.interpolate(crop[None], size=(CROP, CROP), mode="bilinear", align_corners=False)[0]


def color_jitter(x):
    gain = 1 + 0.4 * (2 * torch.rand(3, 1, 1) - 1)
    contrast = float(torch.empty(()).uniform_(0.4, 1.4))
    mean = x.mean()
    return ((x - mean) * contrast + mean) * gain


def center_crop(x):
    o = (FULL - CROP) // 2
    return x[:, o:o + CROP, o:o + CROP]


def normalize(x):
    return (x - 0.5) / 0.12


train_tf = Compose(random_crop, color_jitter, normalize)
eval_tf = Compose(center_crop, normalize)


class Swatches(Dataset):
    def __init__(self, images, labels, transform=None):
        self.images, self.labels, self.transform = images, labels, transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        x = torch.from_numpy(self.images[i])
        return (self.transform(x) if self.transform else x), self.labels[i]


def make_loaders(n=1200, val_share=0.25, seed=0):
    rng = np.random.default_rng(seed)
    data = [swatch(int(rng.integers(len(KINDS))), rng) for _ in range(n)]
    images, labels = [d[0] for d in data], [d[1] for d in data]
    perm = torch.randperm(n, generator=torch.Generator().manual_seed(seed)).tolist()
    n_val = int(n * val_share)
    full = Swatches(images, labels, train_tf)
    train_set, val_set = Subset(full, perm[n_val:]), Subset(full, perm[:n_val])
    return DataLoader(train_set, 32, shuffle=True, drop_last=True), DataLoader(val_set, 100)


class Net(nn.Sequential):
    def __init__(self, classes, w=16):
        def conv(i, o):
            return [nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.SiLU()]
        super().__init__(*conv(3, w), nn.MaxPool2d(2), *conv(w, 2 * w), nn.MaxPool2d(2), *conv(2 * w, 2 * w),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * w, classes))


def validate(net, loader):
    net.eval()
    right = seen = 0
    with torch.no_grad():
        for x, y in loader:
            right += (net(x).argmax(1) == y).sum().item()
            seen += len(y)
    return right / seen


if __name__ == "__main__":
    torch.manual_seed(4)
    train_loader, val_loader = make_loaders()
    net = Net(2 * len(KINDS))
    epochs = 10
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=5e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 4e-3, total_steps=epochs * len(train_loader))
    crit = nn.CrossEntropyLoss()
    for ep in range(epochs):
        net.train()
        tot = 0.0
        for x, y in train_loader:
            loss = crit(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            tot += loss.item()
        print(f"[{ep + 1:02d}/{epochs}] loss {tot / len(train_loader):.3f}  val acc {validate(net, val_loader):.3f}")
    counts = torch.bincount(torch.cat([y for _, y in val_loader]))
    print(f"final val acc {validate(net, val_loader):.3f}  majority {counts.max().item() / counts.sum().item():.3f}")
