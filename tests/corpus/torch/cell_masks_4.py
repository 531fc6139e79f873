"""Segment cell nuclei on (simulated) fluorescence crops with a small U-Net."""
import argparse
import os
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 48


def render_crop(rng):
    """One crop: uneven illumination, debris and a handful of elongated nuclei."""
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    img = 0.25 + 0.2 * np.sin(xx / rng.uniform(8, 20) + rng.uniform(0, 6)) * np.cos(yy / rng.uniform(8, 20))
    mask = np.zeros((SIZE, SIZE), np.float32)
    for _ in range(rng.integers(2, 6)):
        cy, cx = rng.uniform(4, SIZE - 4, 2)
        a, b = rng.uniform(4, 9), rng.uniform(2.5, 5)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        inside = (u / a) ** 2 + (v / b) ** 2 < 1
        mask[inside] = 1
        img[inside] += rng.uniform(0.15, 0.4)
    for _ in range(12):  # bright debris, not a nucleus
        y, x = rng.integers(0, SIZE - 2, 2)
        img[y:y + 2, x:x + 2] += rng.uniform(0.2, 0.6)
    img += rng.normal(0, 0.1, img.shape)
    return img.astype(np.float32), mask


class RandomDihedral:
    """Random flips and quarter turns of a (C, H, W) tensor."""

    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        if random.random() < self.p:
            x = torch.flip(x, dims=[-1])
        if random.random() < self.p:
            x = torch.flip(x, dims=[-2])
        return torch.rot90(x, random.randint(0, 3), dims=[-2, -1])


class NucleiDataset(Dataset):
    def __init__(self, n, seed, transform=None):
        rng = np.random.default_rng(seed)
        self.items = [render_crop(rng) for _ in range(n)]
        self.transform = transform

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = (torch.from_numpy(a)[None] for a in self.items[i])
        img = (img - img.mean()) / (img.std() + 1e-6)
        if self.transform is not None:
            img, mask = self.transform(img), self.transform(mask)
        return img, mask


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class SmallUNet(nn.Module):
    def __init__(self, w=10):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, w), block(w, 2 * w), block(2 * w, 4 * w)
        self.u2, self.u1 = block(6 * w, 2 * w), block(3 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        b = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        a = self.u1(torch.cat([F.interpolate(b, scale_factor=2), a], 1))
        return self.out(a)


def soft_dice_loss(logits, target, eps=1.0):
    p = logits.sigmoid()
    inter = (p * target).sum((1, 2, 3))
    return (1 - (2 * inter + eps) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


@torch.no_grad()
def mean_dice(model, loader):
    model.eval()
    scores = []
    for img, mask in loader:
        pred = (model(img) > 0).float()
        inter = (pred * mask).sum((1, 2, 3))
        scores.append((2 * inter + 1e-6) / (pred.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1e-6))
    return torch.cat(scores).mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--batch-size", type=int, default=16)
    args = ap.parse_args()
    torch.manual_seed(7)
    random.seed(7)

    train = NucleiDataset(240, seed=1, transform=RandomDihedral())
    val = NucleiDataset(80, seed=2)
    train_loader = DataLoader(train, args.batch_size, shuffle=True)
    val_loader = DataLoader(val, 40)

    everything = torch.stack([m for _, m in val])
    frac = everything.mean((1, 2, 3))
    print(f"baseline (everything foreground) dice {(2 * frac / (1 + frac)).mean():.3f}")

    model = SmallUNet()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train_loader))
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for img, mask in train_loader:
            logits = model(img)
            loss = F.binary_cross_entropy_with_logits(logits, mask) + soft_dice_loss(logits, mask)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item() * len(img)
        print(f"epoch {epoch + 1:2d}  loss {total / len(train):.4f}  val dice {mean_dice(model, val_loader):.3f}")
    os.makedirs("out", exist_ok=True)
    torch.save(model.state_dict(), "out/unet.pt")


if __name__ == "__main__":
    main()
