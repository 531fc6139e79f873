# Segmentation of bright cells in small microscopy tiles.
# Tiles are stored as .npy, masks come from the annotation export next to them.
import os
import shutil

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ROOT = os.path.join("out", "cells")
SIZE = 32
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def render_tile(rng):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    tile = rng.normal(0.25, 0.08, (SIZE, SIZE))
    mask = np.zeros((SIZE, SIZE), dtype=np.uint8)
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(4, SIZE - 4, 2)
        ry, rx = rng.uniform(3, 7, 2)
        inside = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
        tile[inside] += 0.25
        mask[inside] = 1
    # uneven illumination plus small bright debris that is not a cell
    tile += 0.2 * (xx / SIZE) * rng.uniform(-1, 1)
    for _ in range(4):
        y, x = rng.integers(0, SIZE - 1, 2)
        tile[y:y + 2, x:x + 2] += 0.3
    return tile.astype(np.float32), mask


def export(root, n, seed):
    """Lay the folder out as the microscope and the annotation tool leave it."""
    rng = np.random.default_rng(seed)
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(f"{root}/tiles")
    os.makedirs(f"{root}/masks")
    pairs = [render_tile(rng) for _ in range(n)]
    for i, (tile, _) in enumerate(pairs):
        np.save(f"{root}/tiles/tile_{i:04d}.npy", tile)
    for i in rng.permutation(n):
        np.save(f"{root}/masks/tile_{i:04d}_cells.npy", pairs[i][1])


class CellDataset(Dataset):
    def __init__(self, root, augment=False):
        self.tiles = sorted(os.path.join(root, "tiles", f) for f in os.listdir(os.path.join(root, "tiles")))
        self.masks = sorted(os.path.join(root, "masks", f) for f in os.listdir(os.path.join(root, "masks")))
        assert len(self.tiles) == len(self.masks)
        self.augment = augment

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, i):
        tile = torch.from_numpy(np.load(self.tiles[i]))[None]
        mask = torch.from_numpy(np.load(self.masks[i]).astype(np.float32))[None]
        if self.augment:
            if torch.rand(()) < 0.5:
                tile, mask = tile.flip(-1), mask.flip(-1)
            k = int(torch.randint(0, 4, ()))
            tile, mask = torch.rot90(tile, k, (1, 2)), torch.rot90(mask, k, (1, 2))
        return (tile - 0.35) / 0.2, mask


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
                         nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class MiniUNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, w), block(w, 2 * w), block(2 * w, 2 * w)
        self.u2, self.u1 = block(4 * w, w), block(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.out(y)


def dice_loss(logits, target):
    p = torch.sigmoid(logits)
    inter = (p * target).sum((1, 2, 3))
    return 1 - ((2 * inter + 1) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + 1)).mean()


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    inter = union = ones = 0.0
    for x, y in loader:
        x, y = x.to(DEVICE), y.to(DEVICE).bool()
        p = model(x) > 0
        inter += (p & y).sum().item()
        union += (p | y).sum().item()
        ones += y.float().mean().item()
    return inter / max(union, 1), ones / len(loader)


def main():
    torch.manual_seed(0)
    export(f"{ROOT}/train", 300, seed=1)
    export(f"{ROOT}/val", 80, seed=2)
    train = DataLoader(CellDataset(f"{ROOT}/train", augment=True), batch_size=20, shuffle=True)
    val = DataLoader(CellDataset(f"{ROOT}/val"), batch_size=40)

    model = MiniUNet().to(DEVICE)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        model.train()
        total = 0.0
        for x, y in train:
            x, y = x.to(DEVICE), y.to(DEVICE)
            logits = model(x)
            loss = F.binary_cross_entropy_with_logits(logits, y) + dice_loss(logits, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        iou, base = evaluate(model, val)
        print(f"epoch {epoch + 1:2d}  loss {total / len(train):.3f}  val IoU {iou:.3f}  "
              f"(all-foreground IoU {base:.3f})")


if __name__ == "__main__":
    main()
