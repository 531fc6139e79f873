"""Transfer learning for fabric inspection.

Stage 0  train a backbone on handwritten digits (plenty of labels)
Stage 1  new head for the fabric classes, backbone frozen
Stage 2  fine-tune the whole network
"""
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

CLASSES = ["ok", "hole", "slub", "stain", "broken_pick"]
SIDE = 24


def fabric_patch(rng, label):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype(np.float32)
    period = rng.uniform(3.0, 4.5)
    img = 0.5 + 0.18 * np.sin(2 * np.pi * xx / period + rng.uniform(0, 6.3)) \
        + 0.18 * np.sin(2 * np.pi * yy / period + rng.uniform(0, 6.3))
    cy, cx = rng.uniform(5, SIDE - 5, 2)
    blob = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * rng.uniform(1.6, 2.4) ** 2))
    if label == 1:
        img = img * (1 - blob)
    elif label == 2:
        img += 0.28 * np.exp(-(yy - cy) ** 2 / 3)
    elif label == 3:
        img -= 0.3 * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * 4.0 ** 2))
    elif label == 4:
        rows = np.abs(yy - cy) < 3
        img[rows] = 0.5 + 0.18 * np.sin(2 * np.pi * xx / period + rng.uniform(0, 6.3))[rows]
    return img + rng.normal(0, 0.07, img.shape)


def fabric_set(n, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % len(CLASSES)
    rng.shuffle(y)
    x = np.stack([fabric_patch(rng, c) for c in y]).astype(np.float32)
    return TensorDataset(torch.from_numpy(x)[:, None], torch.from_numpy(y))


def digit_set():
    d = load_digits()
    x = torch.tensor(d.images / 16.0, dtype=torch.float32)[:, None]
    x = F.interpolate(x, size=(SIDE, SIDE), mode="bilinear", align_corners=False)
    return TensorDataset(x, torch.tensor(d.target))


class Net(nn.Module):
    def __init__(self, n_classes, w=12):
        super().__init__()

        def stage(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU(), nn.MaxPool2d(2))

        self.backbone = nn.Sequential(stage(1, w), stage(w, 2 * w), stage(2 * w, 3 * w),
                                      nn.AdaptiveMaxPool2d(1), nn.Flatten())
        self.head = nn.Linear(3 * w, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


def run_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    torch.manual_seed(21)
    # stage 0
    digits = digit_set()
    model = Net(10)
    loader = DataLoader(digits, 64, shuffle=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(4):
        loss = run_epoch(model, loader, optimizer)
    print(f"digits: loss {loss:.3f}, accuracy on the same images {accuracy(model, loader):.3f}")

    # stage 1
    train_loader = DataLoader(fabric_set(900, 1), 32, shuffle=True)
    test_loader = DataLoader(fabric_set(600, 2), 200)
    print(f"fabric: {len(CLASSES)} balanced classes, chance {1 / len(CLASSES):.2f}")
    model.head = nn.Linear(model.head.in_features, len(CLASSES))
    set_trainable(model.backbone, False)
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=3e-3)
    for epoch in range(5):
        loss = run_epoch(model, train_loader, optimizer)
        print(f"stage 1 epoch {epoch + 1}: loss {loss:.3f} test acc {accuracy(model, test_loader):.3f}")

    # stage 2
    set_trainable(model.backbone, True)
    optimizer.add_param_group({"params": model.backbone.parameters(), "lr": 2e-3})
    for epoch in range(8):
        loss = run_epoch(model, train_loader, optimizer)
        print(f"stage 2 epoch {epoch + 1}: loss {loss:.3f} test acc {accuracy(model, test_loader):.3f}")

    os.makedirs("out", exist_ok=True)
    torch.save(model.state_dict(), "out/fabric.pt")


if __name__ == "__main__":
    main()
