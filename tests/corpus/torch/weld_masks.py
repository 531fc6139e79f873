from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    size: int = 32
    n_train: int = 600
    n_valid: int = 150
    width: int = 12
    epochs: int = 8
    batch: int = 16
    lr: float = 1e-4
    momentum: float = 0.9
    dice_weight: float = 0.5
    seed: int = 9


def weld_images(n, size, rng):
    images = rng.normal(0, 0.35, size=(n, 1, size, size))
    masks = np.zeros((n, 1, size, size))
    yy, xx = np.mgrid[:size, :size]
    for i in range(n):
        shade = 0.5 * np.sin(xx / rng.uniform(4, 9) + rng.uniform(0, 6))
        images[i, 0] += shade
        for _ in range(rng.integers(1, 4)):
            cy, cx = rng.uniform(5, size - 5, size=2)
            ry, rx = rng.uniform(2.5, 6, size=2)
            inside = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2 < 1
            masks[i, 0][inside] = 1
        images[i, 0] += 0.9 * masks[i, 0]
    return torch.tensor(images, dtype=torch.float32), torch.tensor(masks, dtype=torch.float32)


def conv_block(c_in, c_out):
    return nn.Sequential(nn.Conv2d(c_in, c_out, 3, padding=1), nn.GroupNorm(4, c_out), nn.ReLU(),
                         nn.Conv2d(c_out, c_out, 3, padding=1), nn.GroupNorm(4, c_out), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.down1, self.down2 = conv_block(1, w), conv_block(w, 2 * w)
        self.up = nn.ConvTranspose2d(2 * w, w, 2, stride=2)
        self.merge = conv_block(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        return self.out(self.merge(torch.cat([a, self.up(b)], dim=1)))


def seg_loss(logits, mask, dice_weight):
    p = torch.sigmoid(logits)
    inter = (p * mask).sum((1, 2, 3))
    dice = 1 - (2 * inter + 1) / (p.sum((1, 2, 3)) + mask.sum((1, 2, 3)) + 1)
    return F.binary_cross_entropy_with_logits(logits, mask) + dice_weight * dice.mean()


def iou(logits, mask):
    pred = logits > 0
    truth = mask > 0.5
    return ((pred & truth).sum() / (pred | truth).sum().clamp(min=1)).item()


def main(cfg):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, y = weld_images(cfg.n_train, cfg.size, rng)
    vx, vy = weld_images(cfg.n_valid, cfg.size, rng)
    net = SmallUNet(cfg.width)
    opt = torch.optim.SGD(net.parameters(), lr=cfg.lr, momentum=cfg.momentum)
    for epoch in range(cfg.epochs):
        net.train()
        losses = []
        for idx in torch.randperm(len(x)).split(cfg.batch):
            loss = seg_loss(net(x[idx]), y[idx], cfg.dice_weight)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            score = iou(net(vx), vy)
        print(f"epoch {epoch}  train loss {np.mean(losses):.4f}  valid IoU {score:.3f}")
    print(f"final valid IoU {score:.3f}   all-foreground IoU {vy.mean().item():.3f}")


if __name__ == "__main__":
    main(Config())
