import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def make_images(n, size=16):
    """Squares, crosses and diagonals on a noisy background."""
    images = 0.3 * torch.randn(n, 1, size, size)
    kinds = torch.randint(0, 3, (n,))
    for i, kind in enumerate(kinds.tolist()):
        r, c = torch.randint(2, size - 8, (2,)).tolist()
        if kind == 0:
            images[i, 0, r:r + 6, c:c + 6] += 1.0
        elif kind == 1:
            images[i, 0, r + 3, c:c + 6] += 1.5
            images[i, 0, r:r + 6, c + 3] += 1.5
        else:
            for k in range(6):
                images[i, 0, r + k, c + k] += 1.5
    return images, kinds


class SmallNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    torch.manual_seed(1)
    train = DataLoader(TensorDataset(*make_images(1200)), batch_size=32, shuffle=True)
    test = DataLoader(TensorDataset(*make_images(300)), batch_size=100)
    net = SmallNet()
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs * len(train))
    for epoch in range(args.epochs):
        net.train()
        for x, y in train:
            opt.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            sched.step()
        net.eval()
        with torch.no_grad():
            hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test)
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {hits / 300:.3f}")


if __name__ == "__main__":
    main()
