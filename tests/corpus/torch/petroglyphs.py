import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader

SIZE = 28
KINDS = ["ring", "cross", "square", "diagonal", "dots"]
rng = np.random.default_rng(5)
torch.manual_seed(5)
yy, xx = np.mgrid[:SIZE, :SIZE]


def carve(kind):
    cy, cx = rng.uniform(10, 18, 2)
    r = rng.uniform(6, 8.5)
    dy, dx = yy - cy, xx - cx
    inside = np.maximum(np.abs(dy), np.abs(dx)) <= r
    if kind == "ring":
        line = np.abs(np.hypot(dy, dx) - r) < 1.2
    elif kind == "cross":
        line = inside & ((np.abs(dy) < 1.2) | (np.abs(dx) < 1.2))
    elif kind == "square":
        line = np.abs(np.maximum(np.abs(dy), np.abs(dx)) - r) < 1.2
    elif kind == "diagonal":
        line = inside & ((np.abs(dy - dx) < 1.6) | (np.abs(dy + dx) < 1.6))
    else:
        line = inside & (np.mod(dy, 5) < 2) & (np.mod(dx, 5) < 2)
    stone = 60 + rng.uniform(70, 130) * line + rng.normal(0, 16, (SIZE, SIZE))
    return (stone - stone.min()) / (stone.max() - stone.min())


def collect(n):
    labels = rng.integers(0, len(KINDS), n)
    photos = np.stack([carve(KINDS[k]) for k in labels])
    return photos.astype(np.uint8), labels


class Glyphs(Dataset):
    def __init__(self, photos, labels, augment=False):
        self.photos, self.labels, self.augment = photos, labels, augment

    def __len__(self):
        return len(self.photos)

    def __getitem__(self, i):
        img = self.photos[i]
        if self.augment:
            if rng.random() < 0.5:
                img = img[:, ::-1]
            img = np.roll(img, tuple(rng.integers(-2, 3, 2)), axis=(0, 1))
        x = torch.from_numpy(img.astype(np.float32) / 255.0)
        return (x.unsqueeze(0) - 0.35) / 0.2, int(self.labels[i])


train_loader = DataLoader(Glyphs(*collect(1200), augment=True), batch_size=32, shuffle=True)
test_loader = DataLoader(Glyphs(*collect(300)), batch_size=100)

net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Dropout(0.2), nn.Linear(24 * 49, 64), nn.ReLU(), nn.Linear(64, len(KINDS)),
)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(8):
    net.train()
    seen, summed = 0, 0.0
    for x, y in train_loader:
        loss = loss_fn(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        summed += loss.item() * len(y)
        seen += len(y)
    net.eval()
    with torch.no_grad():
        hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch:2d}  loss {summed / seen:.4f}  test accuracy {hits / 300:.3f}")
