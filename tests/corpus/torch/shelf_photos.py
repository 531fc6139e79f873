import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

# small 20x20 grey "shelf" crops, 14 kinds of product
torch.manual_seed(3)
rng = np.random.default_rng(3)
SIZE, KINDS = 20, 14
TEMPLATES = rng.normal(0, 1, (KINDS, 8, 8)).astype("float32")


def make_crop(kind):
    img = rng.normal(0, 0.9, (SIZE, SIZE)).astype("float32")
    r, c = rng.integers(0, SIZE - 8, size=2)
    img[r:r + 8, c:c + 8] += TEMPLATES[kind] * rng.uniform(0.8, 1.4)
    return img


def make_split(n):
    y = rng.integers(0, KINDS, size=n)
    x = np.stack([make_crop(k) for k in y])[:, None]
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y).long())


train_ds, test_ds = make_split(5000), make_split(1000)
train_dl = DataLoader(train_ds, batch_size=64, shuffle=True)
test_dl = DataLoader(test_ds, batch_size=250)


class ShelfNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 24, 5, padding=2)
        self.c2 = nn.Conv2d(24, 32, 5, padding=2)
        self.fc1 = nn.Linear(32, 64)
        self.fc2 = nn.Linear(64, KINDS)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.relu(self.c2(x))
        x = F.adaptive_max_pool2d(x, 1).flatten(1)
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return F.softmax(x, dim=1)


net = ShelfNet()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

t0 = time.time()
for epoch in range(10):
    net.train()
    running, seen, hits = 0.0, 0, 0
    for xb, yb in train_dl:
        opt.zero_grad()
        out = net(xb)
        loss = criterion(out, yb)
        loss.backward()
        opt.step()
        running += loss.item() * len(yb)
        hits += (out.argmax(1) == yb).sum().item()
        seen += len(yb)
    net.eval()
    ok = 0
    with torch.no_grad():
        for xb, yb in test_dl:
            ok += (net(xb).argmax(1) == yb).sum().item()
    print(f"epoch {epoch + 1:2d}  loss {running / seen:.4f}  train acc {hits / seen:.3f}  "
          f"test acc {ok / len(test_ds):.3f}  ({time.time() - t0:.0f}s)")
