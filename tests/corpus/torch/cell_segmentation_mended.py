"""Tiny U-Net for nuclei segmentation on synthetic microscope crops."""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def make_crop(rng, size=32):
    yy, xx = np.mgrid[:size, :size]
    img = 0.25 * rng.standard_normal((size, size)) + 0.3
    img += 0.3 * xx / size
    mask = np.zeros((size, size), dtype=np.float32)
    for _ in range(rng.integers(2, 5)):
        cy, cx = rng.uniform(4, size - 4, 2)
        a, b = rng.uniform(2.5, 5.5, 2)
        th = rng.uniform(0, np.pi)
        u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
        v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
        inside = (u / a) ** 2 + (v / b) ** 2 < 1
        mask[inside] = 1
        img[inside] += rng.uniform(0.35, 0.7)
    # debris: bright thin streaks that are not nuclei
    r = rng.integers(0, size)
    img[r] += 0.5
    return img.astype(np.float32), mask


class RandomFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, x):
        if random.random() < self.p:
            x = torch.flip(x, dims=[-1])
        if random.random() < self.p:
            x = torch.flip(x, dims=[-2])
        return x


class NucleiDataset(Dataset):
    def __init__(self, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        crops = [make_crop(rng) for _ in range(n)]
        self.images = torch.from_numpy(np.stack([c[0] for c in crops]))[:, None]
        self.masks = torch.from_numpy(np.stack([c[1] for c in crops]))[:, None]
        self.flip = RandomFlip() if augment else None

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image, mask = self.images[i], self.masks[i]
        if self.flip is not None:
            image, mask = self.flip(torch.stack([image, mask]))
        return image, mask


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.enc1, self.enc2, self.mid = block(1, c), block(c, 2 * c), block(2 * c, 4 * c)
        self.up2 = nn.ConvTranspose2d(4 * c, 2 * c, 2, stride=2)
        self.dec2 = block(4 * c, 2 * c)
        self.up1 = nn.ConvTranspose2d(2 * c, c, 2, stride=2)
        self.dec1 = block(2 * c, c)
        self.out = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        m = self.mid(F.max_pool2d(e2, 2))
        d2 = self.dec2(torch.cat([self.up2(m), e2], 1))
        d1 = self.dec1(torch.cat([self.up1(d2), e1], 1))
        return self.out(d1)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    inter = union = 0.0
    for image, mask in loader:
        pred = model(image) > 0
        inter += (pred & (mask > 0.5)).sum().item()
        union += (pred | (mask > 0.5)).sum().item()
    return inter / max(union, 1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)

    train = DataLoader(NucleiDataset(480, 1, augment=True), args.batch_size, shuffle=True)
    test = DataLoader(NucleiDataset(128, 2), 64)
    model = SmallUNet()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    criterion = nn.BCEWithLogitsLoss()

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for image, mask in train:
            loss = criterion(model(image), mask)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(image)
        print(f"epoch {epoch + 1}: train loss {total / len(train.dataset):.4f}")

    fg = test.dataset.masks.mean().item()
    print(f"all-foreground IoU {fg:.3f}")
    print(f"test IoU {evaluate(model, test):.3f}")


if __name__ == "__main__":
    main()
