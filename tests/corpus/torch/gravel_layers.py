"""Rock type from 20x20 grain images. Blocks learn one beside the other from local heads
(decoupled greedy learning), so that no block waits for the gradient of the next."""
import argparse
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

ROCKS = ["flint", "granite", "shale", "chalk"]


@dataclass
class BlockSpec:
    cin: int
    cout: int
    pool: bool


def grain_image(rng, kind):
    yy, xx = np.mgrid[:20, :20]
    img = rng.normal(0, 0.5, (20, 20))
    if kind == 0:
        for _ in range(4):
            a, b, c = rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-8, 8)
            img += (np.abs(a * (xx - 10) + b * (yy - 10) + c) < 0.7) * 1.3
    elif kind == 1:
        for _ in range(9):
            cx, cy, r = rng.uniform(0, 20), rng.uniform(0, 20), rng.uniform(1, 2.2)
            img += (((xx - cx) ** 2 + (yy - cy) ** 2) < r * r) * 1.4
    elif kind == 2:
        img += np.sin((yy + rng.uniform(-0.2, 0.2) * xx) * rng.uniform(1.3, 1.9) + rng.uniform(0, 6))
    else:
        img += ((xx // 5 + yy // 5 + rng.integers(2)) % 2) * 1.0
    return (img - img.mean()) / img.std()


def dataset(rows, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(ROCKS), rows)
    x = np.stack([grain_image(rng, int(k)) for k in y])[:, None]
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


class LocalBlock(nn.Module):
    """A convolution block with a head of its own; each has its own optimizer."""

    def __init__(self, spec, n_classes, lr):
        super().__init__()
        self.conv = nn.Conv2d(spec.cin, spec.cout, 3, padding=1)
        self.norm = nn.GroupNorm(4, spec.cout)
        self.pool = nn.MaxPool2d(2) if spec.pool else nn.Identity()
        self.head = nn.Linear(spec.cout * 4, n_classes)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr)

    def features(self, x):
        return self.pool(F.relu(self.norm(self.conv(x))))

    def classify(self, h):
        return self.head(F.adaptive_avg_pool2d(h, 2).flatten(1))

    def learn(self, x, y):
        h = self.features(x)
        loss = F.cross_entropy(self.classify(h), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return h.detach(), loss.item()


class Stack(nn.Module):
    def __init__(self, specs, n_classes, lr):
        super().__init__()
        self.blocks = nn.ModuleList(LocalBlock(s, n_classes, lr) for s in specs)

    def forward(self, x):
        for block in self.blocks:
            x = block.features(x)
        return self.blocks[-1].classify(x)

    def learn(self, x, y):
        losses = []
        for block in self.blocks:
            x, loss = block.learn(x, y)
            losses.append(loss)
        return losses


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()
    torch.manual_seed(50)
    train_loader = DataLoader(dataset(1400, 1), batch_size=50, shuffle=True)
    test_loader = DataLoader(dataset(400, 2), batch_size=200)
    specs = [BlockSpec(1, 12, False), BlockSpec(12, 24, True), BlockSpec(24, 24, False)]
    model = Stack(specs, len(ROCKS), args.lr)
    for epoch in range(args.epochs):
        model.train()
        history = np.array([model.learn(x, y) for x, y in train_loader])
        per_block = " ".join(f"{v:.3f}" for v in history.mean(0))
        print(f"epoch {epoch + 1} losses {per_block} test acc {accuracy(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
