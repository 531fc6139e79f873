"""Landmark regression on small synthetic faces (5 points: eyes, nose, mouth corners)."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SIZE = 32
NAMES = ["left_eye", "right_eye", "nose", "mouth_left", "mouth_right"]
BASE = np.array([[-0.38, -0.28], [0.38, -0.28], [0.0, 0.08], [-0.27, 0.42], [0.27, 0.42]])


def draw_face(rng):
    cx, cy = SIZE / 2 + rng.uniform(-4, 4, size=2)
    scale = rng.uniform(8.5, 12.5)
    angle = math.radians(rng.uniform(-25, 25))
    rot = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    shape = BASE + rng.normal(0, 0.03, BASE.shape)
    pts = shape @ rot.T * scale + np.array([cx, cy])
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    img = 0.6 * np.exp(-(((xx - cx) ** 2 + (yy - cy) ** 2) / (1.1 * scale) ** 2) ** 3)
    widths = [1.5, 1.5, 1.1, 1.0, 1.0]
    signs = [-0.6, -0.6, 0.5, -0.45, -0.45]
    for (px, py), w, s in zip(pts, widths, signs):
        img = img + s * np.exp(-((xx - px) ** 2 + (yy - py) ** 2) / (2 * w * w))
    img = img + rng.normal(0, 0.08, img.shape)
    return img.astype(np.float32), (pts / (SIZE - 1)).astype(np.float32)


class FaceSet(Dataset):
    def __init__(self, n, seed, augment=False):
        rng = np.random.default_rng(seed)
        items = [draw_face(rng) for _ in range(n)]
        self.images = torch.from_numpy(np.stack([i for i, _ in items]))[:, None]
        self.points = torch.from_numpy(np.stack([p for _, p in items]))
        self.augment = augment

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, pts = self.images[i], self.points[i].clone()
        if self.augment:
            if torch.rand(()) < 0.5:
                img = torch.flip(img, dims=[-1])
                pts[:, 0] = 1.0 - pts[:, 0]
            img = img * (0.8 + 0.4 * torch.rand(()))
        return img, pts


class LandmarkNet(nn.Module):
    def __init__(self, n_points=5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 8 * 8, 64), nn.ReLU(), nn.Linear(64, n_points * 2))

    def forward(self, x):
        return self.head(self.features(x)).view(-1, 5, 2)


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    errs = []
    for img, pts in loader:
        pred = model(img)
        eye_dist = (pts[:, 0] - pts[:, 1]).norm(dim=-1)
        err = (pred - pts).norm(dim=-1)
        errs.append(err / eye_dist[:, None])
    return torch.cat(errs).mean(0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--batch-size", type=int, default=64)
    args = ap.parse_args()
    torch.manual_seed(3)

    train_set = FaceSet(2000, seed=1, augment=True)
    val_set = FaceSet(400, seed=2)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val_set, batch_size=200)

    mean_shape = train_set.points.mean(0)
    eye = (val_set.points[:, 0] - val_set.points[:, 1]).norm(dim=-1)
    base = ((val_set.points - mean_shape).norm(dim=-1) / eye[:, None]).mean().item()
    print(f"mean-shape baseline NME {base:.3f}")

    model = LandmarkNet()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs * len(train_loader))
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for img, pts in train_loader:
            loss = F.smooth_l1_loss(model(img), pts, beta=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item() * len(img)
        nme = evaluate(model, val_loader)
        print(f"epoch {epoch + 1}: train {total / len(train_set):.5f}  val NME {nme.mean():.4f}")
    print("per point:", {n: round(v.item(), 3) for n, v in zip(NAMES, nme)})
    print(f"final val NME {nme.mean():.4f}")


if __name__ == "__main__":
    main()
