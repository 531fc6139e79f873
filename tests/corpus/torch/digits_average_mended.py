"""Small ResNet-ish classifier for 8x8 digits; an averaged copy of the weights is what gets shipped."""
import argparse
import copy
import os

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Block(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.c1 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.b1 = nn.BatchNorm2d(ch)
        self.c2 = nn.Conv2d(ch, ch, 3, padding=1, bias=False)
        self.b2 = nn.BatchNorm2d(ch)

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        return F.relu(x + self.b2(self.c2(h)))


class DigitNet(nn.Module):
    def __init__(self, ch=24):
        super().__init__()
        self.stem = nn.Conv2d(1, ch, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(ch)
        self.b1, self.b2 = Block(ch), Block(ch)
        self.fc = nn.Linear(ch, 10)

    def forward(self, x):
        h = F.relu(self.bn(self.stem(x)))
        h = F.max_pool2d(self.b1(h), 2)
        return self.fc(self.b2(h).mean((2, 3)))


class WeightAverage:
    """Exponential moving average of a model."""

    def __init__(self, model, decay=0.98):
        self.decay = decay
        self.model = copy.deepcopy(model).eval()
        for p in self.model.parameters():
            p.requires_grad_(False)
        self.updates = 0

    @torch.no_grad()
    def update(self, model):
        self.updates += 1
        d = min(self.decay, (1 + self.updates) / (10 + self.updates))
        for avg, p in zip(self.model.parameters(), model.parameters()):
            avg.mul_(d).add_(p, alpha=1 - d)
        for avg, b in zip(self.model.buffers(), model.buffers()):
            avg.copy_(b)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def random_shift(x):
    pad = F.pad(x, (1, 1, 1, 1))
    dy, dx = torch.randint(0, 3, (2,)).tolist()
    return pad[:, :, dy:dy + 8, dx:dx + 8]


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--bs", type=int, default=64)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--decay", type=float, default=0.98)
    p.add_argument("--out", default="out")
    return p.parse_args()


def main():
    args = parse()
    torch.manual_seed(1)
    data = load_digits()
    x = torch.tensor(data.images, dtype=torch.float32)[:, None]
    y = torch.tensor(data.target)
    tr, te = train_test_split(range(len(x)), test_size=400, stratify=data.target, random_state=1)
    x_tr, y_tr, x_te, y_te = x[tr], y[tr], x[te], y[te]

    net = DigitNet()
    average = WeightAverage(net, args.decay)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    for epoch in range(args.epochs):
        net.train()
        seen = loss_sum = 0
        for idx in torch.randperm(len(x_tr)).split(args.bs):
            loss = F.cross_entropy(net(random_shift(x_tr[idx])), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            average.update(net)
            loss_sum += loss.item() * len(idx)
            seen += len(idx)
        print(f"epoch {epoch + 1:2d}  loss {loss_sum / seen:.4f}")

    os.makedirs(args.out, exist_ok=True)
    torch.save(average.model.state_dict(), os.path.join(args.out, "digits_average.pt"))
    print(f"test accuracy of the averaged model {accuracy(average.model, x_te, y_te):.4f} (chance 0.10)")


if __name__ == "__main__":
    main()
