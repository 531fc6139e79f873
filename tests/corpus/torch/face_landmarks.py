"""Landmark regression on rendered driver-camera faces (32x32, grey).

Landmarks, named from the driver's own point of view:
  0 left eye, 1 right eye, 2 nose tip, 3 left mouth corner, 4 right mouth corner
"""
import logging
import math
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("landmarks")
NAMES = ["left_eye", "right_eye", "nose", "left_mouth", "right_mouth"]
SIZE = 32


def blob(canvas, x, y, sx, sy, value):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    canvas += value * np.exp(-(((xx - x) / sx) ** 2 + ((yy - y) / sy) ** 2))


def render(rng):
    """The driver faces the camera, so his left side is on the right of the picture."""
    cx, cy = rng.uniform(12, 19), rng.uniform(12, 19)
    s = rng.uniform(0.8, 1.15)
    roll, yaw = rng.normal(0, 0.18), rng.normal(0, 0.8)
    base = np.array([[4.2, -3.0], [-4.2, -3.0], [yaw, 0.8], [2.8, 4.6], [-2.8, 4.6]])
    base += rng.normal(0, 0.25, base.shape)
    c, sn = math.cos(roll), math.sin(roll)
    pts = base * s @ np.array([[c, sn], [-sn, c]]) + [cx, cy]
    img = np.zeros((SIZE, SIZE))
    blob(img, cx, cy, 9 * s, 11 * s, 0.7)
    for x, y in pts[:2]:
        blob(img, x, y, 1.6, 1.0, -0.6)
    blob(img, *pts[2], 1.1, 1.6, 0.4)
    for a in np.linspace(0, 1, 6):
        blob(img, *(a * pts[3] + (1 - a) * pts[4]), 1.0, 0.8, -0.35)
    img = img * rng.uniform(0.7, 1.2) + rng.normal(0, 0.05, img.shape)
    return img.astype("float32")[None], pts.astype("float32")


class FaceSet(Dataset):
    def __init__(self, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        pairs = [render(rng) for _ in range(n)]
        self.images = torch.from_numpy(np.stack([p[0] for p in pairs]))
        self.points = torch.from_numpy(np.stack([p[1] for p in pairs]))
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, pts = self.images[i], self.points[i].clone()
        if self.augment:
            img, pts = self.transform(img, pts)
        return img, pts / (SIZE - 1) * 2 - 1

    @staticmethod
    def transform(img, pts):
        if random.random() < 0.5:
            img = img.flip(-1)
            pts[:, 0] = SIZE - 1 - pts[:, 0]
        if random.random() < 0.5:
            img = img * random.uniform(0.8, 1.2) + random.uniform(-0.1, 0.1)
        return img, pts


class LandmarkNet(nn.Module):
    def __init__(self, k=5):
        super().__init__()

        def conv(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, stride=2, padding=1), nn.BatchNorm2d(o), nn.ReLU())

        self.body = nn.Sequential(conv(1, 24), conv(24, 48), conv(48, 64))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64 * 16, 128), nn.ReLU(), nn.Linear(128, 2 * k))

    def forward(self, x):
        return self.head(self.body(x)).view(len(x), -1, 2)


def evaluate(net, data):
    net.eval()
    with torch.no_grad():
        pred = net(data.images)
    pred = (pred + 1) / 2 * (SIZE - 1)
    return (pred - data.points).norm(dim=-1)


def main():
    random.seed(5)
    torch.manual_seed(5)
    torch.set_num_threads(1)
    train, held = FaceSet(1500, 1, augment=True), FaceSet(400, 2)
    loader = DataLoader(train, batch_size=50, shuffle=True)
    net = LandmarkNet()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    epochs = 14
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, epochs)
    for epoch in range(epochs):
        net.train()
        total = 0.0
        for img, pts in loader:
            loss = F.smooth_l1_loss(net(img), pts, beta=0.1)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(img)
        sched.step()
        if epoch % 4 == 1:
            log.info("epoch %d loss %.4f held-out error %.2f px", epoch + 1, total / len(train), evaluate(net, held).mean())
    err = evaluate(net, held)
    baseline = (train.points.mean(0) - held.points).norm(dim=-1).mean()
    for name, e in zip(NAMES, err.mean(0)):
        log.info("%-12s %.2f px", name, e)
    log.info("held-out mean error %.2f px, PCK@1.5px %.3f, mean-shape baseline %.2f px",
             err.mean(), (err < 1.5).float().mean(), baseline)


if __name__ == "__main__":
    main()
