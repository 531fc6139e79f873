import random
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Config:
    size: int = 32
    n_train: int = 128
    n_val: int = 48
    batch_size: int = 16
    epochs: int = 9
    lr: float = 4e-3
    seed: int = 21


cfg = Config()
random.seed(cfg.seed)
torch.manual_seed(cfg.seed)


def draw_cells(n):
    """Grey microscope-like pictures with 1-3 bright blobs and their masks."""
    yy, xx = torch.meshgrid(torch.arange(cfg.size), torch.arange(cfg.size), indexing="ij")
    imgs, masks = [], []
    for _ in range(n):
        m = torch.zeros(cfg.size, cfg.size)
        for _ in range(random.randint(1, 3)):
            cy, cx, r = random.uniform(5, 27), random.uniform(5, 27), random.uniform(3, 5.5)
            m[((yy - cy) ** 2 + (xx - cx) ** 2) < r * r] = 1
        imgs.append(0.25 + 0.4 * m + 0.18 * torch.randn_like(m))
        masks.append(m)
    return torch.stack(imgs).unsqueeze(1), torch.stack(masks).unsqueeze(1)


class CellSet(torch.utils.data.Dataset):
    def __init__(self, imgs, masks, train):
        self.imgs, self.masks, self.train = imgs, masks, train

    def __len__(self):
        return len(self.imgs)

    def __getitem__(self, i):
        img, mask = self.imgs[i], self.masks[i]
        if self.train:
            if random.random() < 0.5:
                img = torch.flip(img, dims=[-1])
            img = img * random.uniform(0.9, 1.1)
        return img, mask


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class MiniUNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.d1, self.d2, self.mid = block(1, w), block(w, 2 * w), block(2 * w, 2 * w)
        self.u2, self.u1 = block(4 * w, w), block(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.mid(F.max_pool2d(b, 2))
        c = self.u2(torch.cat([F.interpolate(c, scale_factor=2), b], 1))
        return self.out(self.u1(torch.cat([F.interpolate(c, scale_factor=2), a], 1)))


def dice(logits, target, eps=1.0):
    p = (logits > 0).float()
    inter = (p * target).sum((1, 2, 3))
    return ((2 * inter + eps) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + eps)).mean()


train = torch.utils.data.DataLoader(CellSet(*draw_cells(cfg.n_train), True), cfg.batch_size, shuffle=True)
val = torch.utils.data.DataLoader(CellSet(*draw_cells(cfg.n_val), False), cfg.batch_size)
unet = MiniUNet()
optimizer = torch.optim.AdamW(unet.parameters(), lr=cfg.lr)

for e in range(cfg.epochs):
    unet.train()
    tot = 0
    for img, mask in train:
        loss = F.binary_cross_entropy_with_logits(unet(img), mask)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tot += loss.item()
    unet.eval()
    with torch.no_grad():
        d = sum(dice(unet(img), mask).item() for img, mask in val) / len(val)
    print(f"[{e + 1}/{cfg.epochs}] bce={tot / len(train):.4f} val_dice={d:.4f}")
