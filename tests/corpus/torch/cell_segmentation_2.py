"""Small U-Net for segmenting nuclei in (simulated) fluorescence microscopy crops."""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def simulate_field(rng, size=40):
    yy, xx = np.mgrid[0:size, 0:size].astype(np.float32)
    img = np.zeros((size, size), np.float32)
    mask = np.zeros((size, size), np.float32)
    for _ in range(rng.integers(2, 6)):
        cy, cx = rng.uniform(4, size - 4, 2)
        a, b = rng.uniform(2.5, 6.0, 2)
        th = rng.uniform(0, np.pi)
        dy, dx = yy - cy, xx - cx
        u = (dx * np.cos(th) + dy * np.sin(th)) / a
        v = (-dx * np.sin(th) + dy * np.cos(th)) / b
        r2 = u ** 2 + v ** 2
        img += rng.uniform(0.5, 1.0) * np.exp(-0.8 * r2)
        mask[r2 < 1.0] = 1.0
    # debris: thin bright streaks which are not nuclei
    for _ in range(rng.integers(1, 4)):
        row = rng.integers(0, size)
        img[row, rng.integers(0, size // 2): rng.integers(size // 2, size)] += 0.8
    img += 0.15 * rng.standard_normal((size, size)).astype(np.float32)
    return img, mask


class RandomDihedral:
    """Random flips and quarter turns, microscopy has no 'up'."""

    def __call__(self, *arrays):
        flip_h = random.random() < 0.5
        flip_v = random.random() < 0.5
        turn = random.random() < 0.5
        out = []
        for a in arrays:
            if flip_h:
                a = a[:, ::-1]
            if flip_v:
                a = a[::-1, :]
            if turn:
                a = a.T
            out.append(np.ascontiguousarray(a))
        return out if len(out) > 1 else out[0]


class NucleiDataset(Dataset):
    def __init__(self, n, seed, augment=None):
        rng = np.random.default_rng(seed)
        self.items = [simulate_field(rng) for _ in range(n)]
        self.augment = augment

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = self.items[i]
        if self.augment is not None:
            img, mask = self.augment(img), self.augment(mask)
        return torch.from_numpy(img)[None], torch.from_numpy(mask)[None]


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU())


class TinyUNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.d1, self.d2 = block(1, w), block(w, 2 * w)
        self.mid = block(2 * w, 4 * w)
        self.u2, self.u1 = block(6 * w, 2 * w), block(3 * w, w)
        self.head = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        c = F.interpolate(c, scale_factor=2, mode="nearest")
        b = self.u2(torch.cat([c, b], 1))
        b = F.interpolate(b, scale_factor=2, mode="nearest")
        return self.head(self.u1(torch.cat([b, a], 1)))


@torch.no_grad()
def iou(model, loader):
    model.eval()
    inter = union = 0.0
    for x, y in loader:
        pred = model(x) > 0
        y = y > 0.5
        inter += (pred & y).sum().item()
        union += (pred | y).sum().item()
    return inter / max(union, 1.0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)

    train = NucleiDataset(400, seed=1, augment=RandomDihedral())
    val = NucleiDataset(80, seed=2)
    train_dl = DataLoader(train, args.batch_size, shuffle=True, drop_last=True)
    val_dl = DataLoader(val, 40)

    model = TinyUNet()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)
    for epoch in range(args.epochs):
        model.train()
        running = 0.0
        for x, y in train_dl:
            logits = model(x)
            loss = F.binary_cross_entropy_with_logits(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        sched.step()
        print(f"epoch {epoch:02d} train {running / len(train_dl):.4f} val IoU {iou(model, val_dl):.4f}")

    frac = np.mean([m.mean() for _, m in val.items])
    print(f"all-foreground IoU {frac:.4f}  final val IoU {iou(model, val_dl):.4f}")


if __name__ == "__main__":
    main()
