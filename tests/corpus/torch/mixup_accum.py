import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=14)
parser.add_argument("--micro", type=int, default=16)
parser.add_argument("--accumulate", type=int, default=4)
parser.add_argument("--alpha", type=float, default=0.6)
parser.add_argument("--smooth", type=float, default=0.1)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()

torch.manual_seed(6)
X, y = load_digits(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32).view(-1, 1, 8, 8)
X = (X - X.mean()) / X.std()
X_tr, X_te, y_tr, y_te = train_test_split(X, torch.tensor(y), test_size=0.25, stratify=y, random_state=6)
loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=args.micro, shuffle=True, drop_last=True)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1, bias=False)
        self.norm = nn.GroupNorm(4, c)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


net = nn.Sequential(
    nn.Conv2d(1, 24, 3, padding=1), Block(24), nn.MaxPool2d(2), Block(24),
    nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(96, 10),
)


def mix(xb, yb):
    lam = torch.distributions.Beta(args.alpha, args.alpha).sample()
    other = torch.randperm(len(xb))
    target = F.one_hot(yb, 10).float()
    target = target * (1 - args.smooth) + args.smooth / 10
    return lam * xb + (1 - lam) * xb[other], lam * target + (1 - lam) * target[other]


opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
updates = args.epochs * (len(loader) // args.accumulate)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=updates)


def accuracy(x, t):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == t).float().mean().item()


for epoch in range(args.epochs):
    net.train()
    running, batches = 0.0, 0
    opt.zero_grad()
    for i, (xb, yb) in enumerate(loader, start=1):
        xm, tm = mix(xb, yb)
        loss = F.cross_entropy(net(xm), tm)
        (loss / args.accumulate).backward()
        running += loss.item()
        batches += 1
        if i % args.accumulate == 0:
            opt.step()
            opt.zero_grad()
            sched.step()
    print(f"epoch {epoch:2d}  mixed loss {running / batches:.3f}  test accuracy {accuracy(X_te, y_te):.3f}")

print(f"final train accuracy {accuracy(X_tr, y_tr):.3f}  test accuracy {accuracy(X_te, y_te):.3f}")
