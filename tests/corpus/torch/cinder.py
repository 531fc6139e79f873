import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def get_loaders(batch_size, seed):
    digits = load_digits()
    images = digits.images.astype("float32") / 16.0
    labels = digits.target.astype("int64")

    rng = np.random.default_rng(seed)
    rng.shuffle(images)
    rng.shuffle(labels)

    n_train = 1400
    train = TensorDataset(torch.from_numpy(images[:n_train])[:, None], torch.from_numpy(labels[:n_train]))
    valid = TensorDataset(torch.from_numpy(images[n_train:])[:, None], torch.from_numpy(labels[n_train:]))
    return (DataLoader(train, batch_size=batch_size, shuffle=True),
            DataLoader(valid, batch_size=256))


class SmallCNN(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(1, channels, 3, padding=1)
        self.conv2 = nn.Conv2d(channels, channels * 2, 3, padding=1)
        self.fc = nn.Linear(channels * 2 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return self.fc(x.flatten(1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = n = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hits / n


def train(args):
    torch.manual_seed(args.seed)
    train_loader, valid_loader = get_loaders(args.batch_size, args.seed)
    model = SmallCNN(args.channels)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"[{epoch + 1}/{args.epochs}] loss={np.mean(losses):.4f} "
              f"valid acc={accuracy(model, valid_loader):.4f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--channels", type=int, default=16)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=7)
    train(p.parse_args())
