"""One-box detector for buoys in small radar tiles."""
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 32


class RadarTiles(Dataset):
    """Tiles with a single rectangular echo; boxes are (cx, cy, w, h) in 0..1."""

    def __init__(self, n, seed, augment=False):
        r = np.random.default_rng(seed)
        self.augment = augment
        self.images = r.normal(0, 0.3, (n, 1, SIZE, SIZE)).astype("float32")
        self.boxes = np.zeros((n, 4), "float32")
        for i in range(n):
            w, h = r.integers(5, 14, 2)
            x0, y0 = r.integers(0, SIZE - w), r.integers(0, SIZE - h)
            self.images[i, 0, y0:y0 + h, x0:x0 + w] += r.uniform(0.8, 1.5)
            self.boxes[i] = [(x0 + w / 2) / SIZE, (y0 + h / 2) / SIZE, w / SIZE, h / SIZE]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = torch.from_numpy(self.images[i])
        box = torch.from_numpy(self.boxes[i]).clone()
        if self.augment:
            if random.random() < 0.5:
                img = torch.flip(img, dims=[2])
                box[0] = 1 - box[0]
            if random.random() < 0.5:
                img = img * random.uniform(0.8, 1.2) + random.uniform(-0.1, 0.1)
        return img, box


class BoxNet(nn.Module):
    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))
        self.trunk = nn.Sequential(block(1, 16), block(16, 32), block(32, 32))
        self.box = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, 4), nn.Sigmoid())

    def forward(self, x):
        return self.box(self.trunk(x))


def corners(b):
    return torch.cat([b[:, :2] - b[:, 2:] / 2, b[:, :2] + b[:, 2:] / 2], dim=1)


def iou(p, t):
    p, t = corners(p), corners(t)
    lt, rb = torch.maximum(p[:, :2], t[:, :2]), torch.minimum(p[:, 2:], t[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    area = lambda q: (q[:, 2:] - q[:, :2]).clamp(min=0).prod(1)
    return inter / (area(p) + area(t) - inter + 1e-9)


def main():
    random.seed(1)
    torch.manual_seed(1)
    train = DataLoader(RadarTiles(2500, 10, augment=True), batch_size=64, shuffle=True)
    test = DataLoader(RadarTiles(500, 11), batch_size=250)
    net = BoxNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=14)
    huber = nn.SmoothL1Loss(beta=0.05)
    for epoch in range(14):
        net.train()
        tot = 0.0
        for img, box in train:
            loss = huber(net(img), box)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        sched.step()
        net.eval()
        with torch.no_grad():
            score = torch.cat([iou(net(i), b) for i, b in test])
        print(f"epoch {epoch:2d} loss {tot / len(train):.4f} mean IoU {score.mean():.3f} IoU>0.5 {(score > .5).float().mean():.3f}")


if __name__ == "__main__":
    main()
