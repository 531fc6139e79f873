import csv
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader, random_split


def draw(kind, rng):
    img = rng.normal(0, 0.15, (24, 24)).astype("float32")
    r, cy, cx = rng.integers(4, 7), rng.integers(8, 16), rng.integers(8, 16)
    yy, xx = np.mgrid[:24, :24]
    if kind == 0:
        img[(yy - cy) ** 2 + (xx - cx) ** 2 <= r * r] += 1
    elif kind == 1:
        img[(abs(yy - cy) == r) & (abs(xx - cx) <= r) | (abs(xx - cx) == r) & (abs(yy - cy) <= r)] += 1
    else:
        img[(abs(yy - cy) <= 1) & (abs(xx - cx) <= r) | (abs(xx - cx) <= 1) & (abs(yy - cy) <= r)] += 1
    return img


def write_folder(root, n=1500):
    rng = np.random.default_rng(0)
    os.makedirs(os.path.join(root, "images"))
    with open(os.path.join(root, "labels.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["file", "label"])
        for i in range(n):
            k = int(rng.integers(0, 3))
            np.save(os.path.join(root, "images", f"img_{i}.npy"), draw(k, rng))
            w.writerow([f"img_{i}.npy", k])


class ShapeFolder(Dataset):
    def __init__(self, root):
        self.dir = os.path.join(root, "images")
        self.files = sorted(os.listdir(self.dir))
        with open(os.path.join(root, "labels.csv")) as f:
            self.labels = [int(row["label"]) for row in csv.DictReader(f)]

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        x = np.load(os.path.join(self.dir, self.files[i]))
        return torch.from_numpy(x).unsqueeze(0), self.labels[i]


torch.manual_seed(0)
root = tempfile.mkdtemp()
write_folder(root)
train_set, val_set = random_split(ShapeFolder(root), [1200, 300])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)

net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(24 * 6 * 6, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(6):
    net.train()
    run = 0.0
    for x, y in train_loader:
        loss = loss_fn(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        run += loss.item()
    net.eval()
    with torch.no_grad():
        ok = sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader)
    print(f"[{epoch}] train loss {run / len(train_loader):.3f} | val acc {ok / len(val_set):.3f}")
