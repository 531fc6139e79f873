"""Transfer: a small CNN learns digits 0-4, then its features are reused for digits 5-9."""
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class SmallCNN(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.fc = nn.Linear(64 * 2 * 2, n_classes)

    def forward(self, x):
        return self.fc(self.features(x).flatten(1))


def loaders(digits, batch_size):
    x, y = load_digits(return_X_y=True)
    keep = [t in digits for t in y]
    x, y = x[keep], y[keep] - min(digits)
    xtr, xte, ytr, yte = train_test_split(x / 16.0, y, test_size=0.25, random_state=0, stratify=y)

    def wrap(a, b):
        return TensorDataset(torch.tensor(a, dtype=torch.float32).view(-1, 1, 8, 8), torch.tensor(b))

    return DataLoader(wrap(xtr, ytr), batch_size=batch_size, shuffle=True), DataLoader(wrap(xte, yte), batch_size=256)


def train_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    return total / len(loader.dataset)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--source-epochs", type=int, default=6)
    ap.add_argument("--target-epochs", type=int, default=15)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    criterion = nn.CrossEntropyLoss()
    train, test = loaders(range(0, 5), args.batch_size)
    model = SmallCNN(5)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.source_epochs):
        loss = train_epoch(model, train, optimizer, criterion)
        print(f"[source] epoch {epoch + 1} loss {loss:.4f} acc {accuracy(model, test):.3f}")

    # keep the features, learn only a new classifier
    for p in model.features.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=args.lr)
    model.fc = nn.Linear(model.fc.in_features, 5)

    train, test = loaders(range(5, 10), args.batch_size)
    for epoch in range(args.target_epochs):
        loss = train_epoch(model, train, optimizer, criterion)
        print(f"[target] epoch {epoch + 1} loss {loss:.4f} acc {accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
