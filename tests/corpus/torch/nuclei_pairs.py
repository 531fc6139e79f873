"""Small segmentation exercise: images and masks sit in two folders and carry
different name patterns (scan_17.npy / 0017-label.npy)."""
import re
import shutil
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

ROOT = Path("out/nuclei")
IMG, MSK = ROOT / "scans", ROOT / "labels"


def write_files(n, seed=0):
    shutil.rmtree(ROOT, ignore_errors=True)
    IMG.mkdir(parents=True)
    MSK.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:32, :32]
    for i in rng.permutation(n):
        mask = np.zeros((32, 32), bool)
        for _ in range(rng.integers(1, 5)):
            cy, cx, r, e = *rng.uniform(4, 28, 2), rng.uniform(2.5, 6), rng.uniform(0.7, 1.4)
            mask |= (yy - cy) ** 2 * e + (xx - cx) ** 2 / e < r ** 2
        ramp = rng.uniform(-1, 1) * xx / 32 + rng.uniform(-1, 1) * yy / 32
        img = ramp + rng.normal(0, 0.55, (32, 32)) + 0.9 * mask
        np.save(IMG / f"scan_{i}.npy", img.astype(np.float32))
        np.save(MSK / f"{i:04d}-label.npy", mask.astype(np.uint8))


def pairs():
    number = lambda p: int(re.search(r"\d+", p.stem).group())
    masks = {number(p): p for p in MSK.iterdir()}
    # sorted() puts scan_10 before scan_2; harmless, the partner is looked up by its number
    found = [(p, masks[number(p)]) for p in sorted(IMG.iterdir())]
    assert len(found) == len(masks)
    return found


class Cells(Dataset):
    def __init__(self, files, train):
        self.files, self.train = files, train

    def __len__(self):
        return len(self.files)

    def __getitem__(self, k):
        img, msk = (np.load(p) for p in self.files[k])
        img = torch.from_numpy(img)[None]
        msk = torch.from_numpy(msk.astype(np.float32))[None]
        if self.train:
            both = torch.cat([img, msk])          # one geometry for both
            if torch.rand(()) < 0.5:
                both = both.flip(-1)
            both = torch.rot90(both, int(torch.randint(4, ())), (1, 2))
            img, msk = both[:1], both[1:]
            img = img * (0.8 + 0.4 * torch.rand(())) + 0.2 * torch.randn(())
        return (img - img.mean()) / img.std(), msk


class TinyUNet(nn.Module):
    def __init__(self, w=12):
        super().__init__()
        block = lambda a, b: nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU())
        self.a, self.b, self.c = block(1, w), block(w, 2 * w), block(2 * w, 2 * w)
        self.up = block(3 * w, w)
        self.head = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.c(self.b(F.max_pool2d(a, 2)))
        return self.head(self.up(torch.cat([a, F.interpolate(b, scale_factor=2.0)], 1)))


def dice(prob, m):
    inter = (prob * m).sum((1, 2, 3))
    return (2 * inter + 1) / (prob.sum((1, 2, 3)) + m.sum((1, 2, 3)) + 1)


def main():
    torch.manual_seed(0)
    write_files(700)
    files = pairs()
    keep = np.random.default_rng(4).permutation(len(files))
    train = Cells([files[i] for i in keep[:500]], True)
    test = Cells([files[i] for i in keep[500:]], False)
    model = TinyUNet()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    loader = DataLoader(train, 20, shuffle=True, drop_last=True)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-2, total_steps=8 * len(loader))
    for epoch in range(8):
        model.train()
        seen = []
        for x, m in loader:
            z = model(x)
            loss = F.binary_cross_entropy_with_logits(z, m) + 1 - dice(z.sigmoid(), m).mean()
            opt.zero_grad(); loss.backward(); opt.step(); sched.step()
            seen.append(loss.item())
        print(f"epoch {epoch} loss {np.mean(seen):.3f}")
    model.eval()
    with torch.no_grad():
        got, thr, ones = [], [], []
        for x, m in DataLoader(test, 50):
            got.append(dice((model(x) > 0).float(), m))
            thr.append(dice((x > 0.7).float(), m))
            ones.append(dice(torch.ones_like(m), m))
    print("held-out dice: net %.3f | fixed threshold %.3f | all ones %.3f"
          % tuple(torch.cat(v).mean() for v in (got, thr, ones)))


main()
