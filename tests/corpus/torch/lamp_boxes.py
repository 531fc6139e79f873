"""Finds the one lamp in a shop photo: what kind it is, and its box."""
import argparse
import json

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

KINDS = ["bulb", "tube", "lantern", "spot"]
SIZE = 48


def paint(rng):
    img = rng.normal(0, 0.25, (1, SIZE, SIZE)).astype(np.float32)
    kind = int(rng.integers(len(KINDS)))
    half = int(rng.integers(5, 9))
    cx, cy = rng.integers(half + 1, SIZE - half - 1, 2)
    yy, xx = np.mgrid[:SIZE, :SIZE]
    dx, dy = np.abs(xx - cx), np.abs(yy - cy)
    if kind == 0:
        mask = dx ** 2 + dy ** 2 <= half ** 2
    elif kind == 1:
        mask = (dx <= half) & (dy <= half)
    elif kind == 2:
        mask = dx + dy <= half
    else:
        ring = dx ** 2 + dy ** 2
        mask = (ring <= half ** 2) & (ring >= (half - 3) ** 2)
    img[0][mask] += 1.0
    box = np.array([cx - half, cy - half, cx + half, cy + half], dtype=np.float32)
    return img, kind, box


class LampPhotos(Dataset):
    def __init__(self, rows, seed):
        rng = np.random.default_rng(seed)
        self.rows = [paint(rng) for _ in range(rows)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        img, kind, box = self.rows[i]
        return torch.from_numpy(img), kind, torch.from_numpy(box)


class Detector(nn.Module):
    def __init__(self, width):
        super().__init__()
        chans = [1, width, 2 * width, 2 * width]
        blocks = []
        for a, b in zip(chans[:-1], chans[1:]):
            blocks += [nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2)]
        self.backbone = nn.Sequential(*blocks, nn.Flatten())
        self.neck = nn.Sequential(nn.Linear(2 * width * 36, 96), nn.ReLU())
        self.kind = nn.Linear(96, len(KINDS))
        self.box = nn.Linear(96, 4)

    def forward(self, x):
        h = self.neck(self.backbone(x))
        return self.kind(h), self.box(h).sigmoid() * SIZE


def detection_loss(kind_logits, boxes, kinds, gold):
    cls = F.cross_entropy(kind_logits, kinds)
    loc = F.mse_loss(boxes, gold)
    return cls + loc, cls.item(), loc.item()


def iou(a, b):
    lo = torch.maximum(a[:, :2], b[:, :2])
    hi = torch.minimum(a[:, 2:], b[:, 2:])
    inter = (hi - lo).clamp(min=0).prod(1)
    area = lambda t: (t[:, 2:] - t[:, :2]).clamp(min=0).prod(1)
    return inter / (area(a) + area(b) - inter).clamp(min=1e-6)


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    right, overlap, total = 0, 0.0, 0
    for x, kinds, gold in loader:
        logits, boxes = model(x.to(device))
        right += (logits.argmax(1).cpu() == kinds).sum().item()
        overlap += iou(boxes.cpu(), gold).sum().item()
        total += len(kinds)
    return {"kind_acc": round(right / total, 3), "mean_iou": round(overlap / total, 3)}


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=0.03)
    ap.add_argument("--clip", type=float, default=2.0)
    ap.add_argument("--width", type=int, default=8)
    args = ap.parse_args()
    torch.manual_seed(17)
    device = "cuda" if torch.cuda.is_available() else "cpu"

    train_loader = DataLoader(LampPhotos(1200, 1), batch_size=40, shuffle=True)
    val_loader = DataLoader(LampPhotos(300, 2), batch_size=100)
    model = Detector(args.width).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)

    for epoch in range(args.epochs):
        model.train()
        sums = np.zeros(2)
        for x, kinds, gold in train_loader:
            logits, boxes = model(x.to(device))
            loss, cls, loc = detection_loss(logits, boxes, kinds.to(device), gold.to(device))
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), args.clip)
            optimizer.step()
            sums += (cls, loc)
        scheduler.step()
        record = {"epoch": epoch + 1, "cls": round(sums[0] / len(train_loader), 3),
                  "loc": round(sums[1] / len(train_loader), 4)}
        record.update(evaluate(model, val_loader, device))
        print(json.dumps(record))


if __name__ == "__main__":
    main()
