import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
rng = np.random.default_rng(6)


def beetle(length, width, stripes):
    yy, xx = np.mgrid[0:24, 0:24] - 12 + rng.normal(0, 1, (2, 1, 1))
    body = (yy / length) ** 2 + (xx / width) ** 2 < 1
    img = body * (0.6 + 0.4 * np.sign(np.sin(stripes * yy)))
    return (img + rng.normal(0, 0.15, img.shape)).astype("float32")[None]


def source(n):
    y = rng.integers(0, 6, n)
    x = np.stack([beetle([6, 10][k % 2], [3, 6, 9][k // 2], rng.uniform(0.6, 2.0)) for k in y])
    return torch.from_numpy(x) - 0.25, torch.from_numpy(y)


def target(n):
    y = rng.integers(0, 3, n)
    x = np.stack([beetle(rng.uniform(8, 9), [3.5, 6, 8.5][k], 0.3) for k in y])
    return torch.from_numpy(x) - 0.25, torch.from_numpy(y)


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


backbone = nn.Sequential(block(1, 16), block(16, 32), block(32, 48), nn.AdaptiveAvgPool2d(1), nn.Flatten())
source_head = nn.Linear(48, 6)

loader = DataLoader(TensorDataset(*source(1500)), batch_size=32, shuffle=True)
opt = torch.optim.Adam(list(backbone.parameters()) + list(source_head.parameters()), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()
print("pretraining on the catalogue")
for epoch in range(4):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = loss_fn(source_head(backbone(x)), y)
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"  epoch {epoch + 1} loss {total / len(loader):.4f}")

for p in backbone.parameters():
    p.requires_grad = False
backbone.eval()

field_head = nn.Linear(48, 3)
train = DataLoader(TensorDataset(*target(240)), batch_size=16, shuffle=True)
x_test, y_test = target(300)
opt = torch.optim.Adam(field_head.parameters(), lr=1e-2)
print("linear head on the field photos")
for epoch in range(12):
    field_head.train()
    total = 0.0
    for x, y in train:
        with torch.no_grad():
            features = backbone(x)
        opt.zero_grad()
        loss = loss_fn(field_head(features), y)
        loss.backward()
        opt.step()
        total += loss.item()
    field_head.eval()
    with torch.no_grad():
        acc = (field_head(backbone(x_test)).argmax(1) == y_test).float().mean().item()
    print(f"  epoch {epoch + 1} loss {total / len(train):.4f} accuracy {acc:.3f}")
