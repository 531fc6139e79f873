"""Single-object detector: one box and one class per 40x40 grey image."""
import random

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


def draw(rng):
    img = rng.normal(0, 0.15, (40, 40)).astype(np.float32)
    w, h = rng.integers(8, 18, 2)
    x, y = rng.integers(0, 40 - w), rng.integers(0, 40 - h)
    kind = int(rng.integers(0, 3))
    yy, xx = np.mgrid[0:h, 0:w]
    if kind == 0:
        shape = np.ones((h, w), bool)
    elif kind == 1:
        shape = ((xx + 0.5 - w / 2) / (w / 2)) ** 2 + ((yy + 0.5 - h / 2) / (h / 2)) ** 2 <= 1
    else:
        shape = (xx % w < 2) | (xx >= w - 2) | (yy < 2) | (yy >= h - 2)
    img[y : y + h, x : x + w] += shape * rng.uniform(0.7, 1.2)
    box = np.array([x, y, x + w, y + h], dtype=np.float32) / 40
    return img, box, kind


class Shapes(Dataset):
    def __init__(self, n, seed, augment):
        rng = np.random.default_rng(seed)
        self.samples = [draw(rng) for _ in range(n)]
        self.augment = augment

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, idx):
        img, box, kind = self.samples[idx]
        img = torch.from_numpy(img)[None]
        box = torch.from_numpy(box)
        if self.augment:
            img = img + torch.randn_like(img) * 0.05
            if random.random() < 0.5:
                img = img.flip(-1)
                box = torch.stack([1 - box[2], box[1], 1 - box[0], box[3]])
        return img, box, kind


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU(),
            nn.Conv2d(32, 32, 3, 2, 1), nn.ReLU(),
            nn.Flatten(), nn.Linear(32 * 25, 128), nn.ReLU(),
        )
        self.box = nn.Linear(128, 4)
        self.kind = nn.Linear(128, 3)

    def forward(self, x):
        z = self.body(x)
        return self.box(z).sigmoid(), self.kind(z)


def iou(a, b):
    lo, hi = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    inter = (hi - lo).clamp(min=0).prod(1)
    area = lambda t: (t[:, 2:] - t[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter + 1e-6)


def run_epoch(net, loader, opt=None):
    net.train(opt is not None)
    sums = np.zeros(4)
    with torch.set_grad_enabled(opt is not None):
        for img, box, kind in loader:
            pb, pk = net(img)
            loss = 5 * F.smooth_l1_loss(pb, box, beta=0.05) + F.cross_entropy(pk, kind)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            k = len(img)
            sums += [loss.item() * k, iou(pb.detach(), box).sum().item(), (pk.argmax(1) == kind).sum().item(), k]
    return sums[:3] / sums[3]


def main():
    random.seed(0)
    torch.manual_seed(0)
    train = DataLoader(Shapes(3000, 0, True), 64, shuffle=True)
    valid = DataLoader(Shapes(500, 1, False), 250)
    net = Detector()
    opt = torch.optim.Adam(net.parameters(), 1.5e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 14)
    for ep in range(14):
        tl, ti, ta = run_epoch(net, train, opt)
        vl, vi, va = run_epoch(net, valid)
        sched.step()
        print(f"{ep:2d} train loss {tl:.3f} iou {ti:.3f} | valid loss {vl:.3f} iou {vi:.3f} class acc {va:.3f}")


if __name__ == "__main__":
    main()
