"""Learn features by guessing rotations, then read digits from them with few labels."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset


class Rotations(Dataset):
    """Four views of each picture; the label is the number of quarter turns."""

    def __init__(self, images):
        self.images = images

    def __len__(self):
        return 4 * len(self.images)

    def __getitem__(self, i):
        turns = i % 4
        return torch.rot90(self.images[i // 4], turns, dims=(1, 2)), turns


class Backbone(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.width_out = 2 * width * 16

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return x.flatten(1)


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(self.backbone.width_out, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def load(seed):
    bunch = load_digits()
    x = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(bunch.target)
    train, test = train_test_split(torch.arange(len(y)).numpy(), test_size=0.3, stratify=bunch.target, random_state=seed)
    return x[train], y[train], x[test], y[test]


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = total = 0
    for x, y in loader:
        hits += (model(x).argmax(dim=1) == y).sum().item()
        total += len(y)
    return hits / total


def fit(model, loader, optimizer, epochs, tag, check=None):
    for epoch in range(1, epochs + 1):
        model.train()
        running = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        line = f"[{tag}] epoch {epoch:2d}  loss {running / len(loader):.3f}"
        if check is not None:
            line += f"  accuracy {accuracy(model, check):.3f}"
        print(line)


def pretrain(images, args):
    model = Net(classes=4)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loader = DataLoader(Rotations(images), batch_size=args.batch_size, shuffle=True)
    fit(model, loader, optimizer, args.pretext_epochs, "rotation")
    return model


def transfer(model, x, y, x_test, y_test, args):
    for p in model.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.head_lr)
    model.head = nn.Linear(model.backbone.width_out, 10)

    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
    check = DataLoader(TensorDataset(x_test, y_test), batch_size=256)
    fit(model, loader, optimizer, args.epochs, "digits", check)
    return accuracy(model, check)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pretext-epochs", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--labels", type=int, default=400)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--head-lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    x, y, x_test, y_test = load(args.seed)
    model = pretrain(x, args)
    final = transfer(model, x[:args.labels], y[:args.labels], x_test, y_test, args)
    print(f"digits from {args.labels} labels: {final:.3f}")


if __name__ == "__main__":
    main()
