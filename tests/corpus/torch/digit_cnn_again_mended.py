import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--step-size", type=int, default=5)
    p.add_argument("--gamma", type=float, default=0.3)
    p.add_argument("--seed", type=int, default=11)
    return p.parse_args()


class SmallConvNet(nn.Module):
    def __init__(self, n_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.drop = nn.Dropout(0.25)
        self.fc1 = nn.Linear(32 * 2 * 2, 64)
        self.fc2 = nn.Linear(64, n_classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = self.drop(x.flatten(1))
        return self.fc2(F.relu(self.fc1(x)))


def get_loaders(batch_size, seed):
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).view(-1, 1, 8, 8) / 16.0
    images = (images - 0.305) / 0.376
    labels = torch.tensor(labels, dtype=torch.long)
    idx_tr, idx_te = train_test_split(
        range(len(labels)), test_size=0.25, random_state=seed, stratify=labels
    )
    train = TensorDataset(images[idx_tr], labels[idx_tr])
    test = TensorDataset(images[idx_te], labels[idx_te])
    return (
        DataLoader(train, batch_size=batch_size, shuffle=True),
        DataLoader(test, batch_size=256),
    )


def train_one_epoch(model, loader, optimizer, scheduler):
    model.train()
    total, n = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        n += len(y)
    return total / n


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct, total, n = 0, 0.0, 0
    for x, y in loader:
        out = model(x)
        total += F.cross_entropy(out, y, reduction="sum").item()
        correct += (out.argmax(1) == y).sum().item()
        n += len(y)
    return total / n, correct / n


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    train_loader, test_loader = get_loaders(args.batch_size, args.seed)
    model = SmallConvNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, args.step_size, args.gamma)

    for epoch in range(1, args.epochs + 1):
        train_loss = train_one_epoch(model, train_loader, optimizer, scheduler)
        scheduler.step()
        test_loss, acc = evaluate(model, test_loader)
        print(f"[{epoch:2d}] train {train_loss:.4f}  test {test_loss:.4f}  acc {acc:.3f}")

    print(f"final test loss {test_loss:.4f} accuracy {acc:.4f}")


if __name__ == "__main__":
    main()
