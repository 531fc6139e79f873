"""Hand-drawn wheel symbols, easy ones first: the pool grows from clean to smudged drawings."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset

CLASSES = 5


def wheels(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[-1:1:20j, -1:1:20j]
    images, labels, smudge = [], [], []
    for _ in range(n):
        k = int(rng.integers(CLASSES))
        turn, level = rng.uniform(0, 0.6), rng.uniform(0.05, 0.9)
        angle, radius = np.arctan2(yy, xx), np.hypot(xx, yy)
        wheel = (np.abs(radius - 0.8) < 0.1) | ((np.cos((k + 2) * (angle + turn)) > 0.85) & (radius < 0.8))
        images.append(wheel + rng.normal(0, level, wheel.shape))
        labels.append(k)
        smudge.append(level)
    order = np.argsort(smudge)
    x = torch.tensor(np.array(images)[order], dtype=torch.float32).unsqueeze(1)
    return TensorDataset(x - 0.3, torch.tensor(np.array(labels)[order]))


class WheelNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(32 * 25, CLASSES),
        )
        nn.init.zeros_(self.net[-1].weight)

    def forward(self, x):
        return self.net(x)


def main():
    torch.manual_seed(2)
    train, test = wheels(2000, 1), wheels(400, 2)
    net = WheelNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.8, nesterov=True)
    stages = [0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0]
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[5, 7], gamma=0.2)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    for stage, share in enumerate(stages):
        pool = Subset(train, range(int(share * len(train))))
        net.train()
        total = seen = 0
        for x, y in DataLoader(pool, batch_size=50, shuffle=True):
            loss = criterion(net(x), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(x)
            seen += len(x)
        sched.step()
        net.eval()
        with torch.no_grad():
            acc = np.mean([(net(x).argmax(1) == y).float().mean().item() for x, y in DataLoader(test, batch_size=100)])
        print(f"stage {stage}: {len(pool)} drawings, loss {total / seen:.3f}, test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
