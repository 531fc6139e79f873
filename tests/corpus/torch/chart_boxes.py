import argparse
import math
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 40


def draw(rng):
    """A noisy scan with one framed stamp in it; box is (cx, cy, w, h) in 0..1."""
    img = rng.normal(0.2, 0.12, (SIZE, SIZE))
    w, h = rng.integers(8, 18, 2)
    x0 = rng.integers(0, SIZE - w)
    y0 = rng.integers(0, SIZE - h)
    img[y0:y0 + h, x0:x0 + w] += 0.35
    img[y0:y0 + h, x0] += 0.5
    img[y0:y0 + h, x0 + w - 1] += 0.5
    kind = int(rng.integers(0, 2))
    if kind == 1:
        for k in range(min(w, h)):
            img[y0 + k, x0 + k] += 0.8
    box = np.array([(x0 + w / 2) / SIZE, (y0 + h / 2) / SIZE, w / SIZE, h / SIZE])
    return img.astype(np.float32), box.astype(np.float32), kind


class Scans(Dataset):
    def __init__(self, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        self.items = [draw(rng) for _ in range(n)]
        self.augment = augment

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, box, kind = self.items[i]
        img = torch.from_numpy(img)[None]
        box = torch.from_numpy(box.copy())
        if self.augment:
            if torch.rand(1).item() < 0.5:
                img = torch.flip(img, dims=[2])
            img = img * (0.8 + 0.4 * torch.rand(1)) + 0.05 * torch.randn_like(img)
        return img, box, kind


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        chans = [1, 16, 32, 48]
        blocks = []
        for a, b in zip(chans[:-1], chans[1:]):
            blocks += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.backbone = nn.Sequential(*blocks)
        self.neck = nn.Sequential(nn.Flatten(), nn.Linear(48 * 25, 128), nn.ReLU())
        self.box = nn.Linear(128, 4)
        self.cls = nn.Linear(128, 2)

    def forward(self, x):
        z = self.neck(self.backbone(x))
        return torch.sigmoid(self.box(z)), self.cls(z)


def iou(a, b):
    ax0, ay0 = a[:, 0] - a[:, 2] / 2, a[:, 1] - a[:, 3] / 2
    ax1, ay1 = a[:, 0] + a[:, 2] / 2, a[:, 1] + a[:, 3] / 2
    bx0, by0 = b[:, 0] - b[:, 2] / 2, b[:, 1] - b[:, 3] / 2
    bx1, by1 = b[:, 0] + b[:, 2] / 2, b[:, 1] + b[:, 3] / 2
    iw = (torch.min(ax1, bx1) - torch.max(ax0, bx0)).clamp(min=0)
    ih = (torch.min(ay1, by1) - torch.max(ay0, by0)).clamp(min=0)
    inter = iw * ih
    return inter / (a[:, 2] * a[:, 3] + b[:, 2] * b[:, 3] - inter + 1e-9)


def run(args):
    torch.manual_seed(args.seed)
    train = DataLoader(Scans(2000, 1, augment=True), batch_size=args.batch, shuffle=True)
    test = DataLoader(Scans(400, 2), batch_size=200)
    net = Detector()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    steps = args.epochs * len(train)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 0.5 * (1 + math.cos(math.pi * s / steps)))
    start = time.time()
    for epoch in range(args.epochs):
        net.train()
        seen, run_box, run_cls = 0, 0.0, 0.0
        for img, box, kind in train:
            pb, pc = net(img)
            l_box = F.smooth_l1_loss(pb, box, beta=0.05)
            l_cls = F.cross_entropy(pc, kind)
            opt.zero_grad()
            (10 * l_box + l_cls).backward()
            opt.step()
            sched.step()
            seen += 1
            run_box += l_box.item()
            run_cls += l_cls.item()
        net.eval()
        ious, hits = [], []
        with torch.no_grad():
            for img, box, kind in test:
                pb, pc = net(img)
                ious.append(iou(pb, box))
                hits.append(pc.argmax(1) == kind)
        print(f"[{time.time() - start:5.1f}s] epoch {epoch + 1} box {run_box / seen:.4f} cls {run_cls / seen:.4f} "
              f"mIoU {torch.cat(ious).mean():.3f} acc {torch.cat(hits).float().mean():.3f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch", type=int, default=50)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    run(p.parse_args())
