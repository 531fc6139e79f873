"""Pretrain a small CNN on digits 0-5, then fine-tune it to tell 6, 7, 8 and 9 apart."""
import logging

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn, optim

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("transfer")


class DigitNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.classifier = nn.Linear(128, n_classes)

    def forward(self, x):
        return self.classifier(self.features(x))


def batches(x, y, size, generator):
    order = torch.randperm(len(x), generator=generator)
    for chunk in order.split(size):
        yield x[chunk], y[chunk]


def train(net, optimizer, x, y, epochs, size=32, seed=0):
    g = torch.Generator().manual_seed(seed)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        net.train()
        losses = []
        for xb, yb in batches(x, y, size, g):
            optimizer.zero_grad()
            loss = loss_fn(net(xb), yb)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        log.info("epoch %d loss %.4f", epoch + 1, np.mean(losses))


def score(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def load_group(digits, shift):
    data = load_digits()
    keep = np.isin(data.target, digits)
    x = data.images[keep].astype(np.float32)[:, None] / 16.0
    y = data.target[keep].astype(np.int64) - shift
    parts = train_test_split(x, y, test_size=0.4, stratify=y, random_state=1)
    return [torch.from_numpy(p) for p in parts]


def main():
    torch.manual_seed(42)

    # stage 1: source task
    x_tr, x_te, y_tr, y_te = load_group(range(0, 6), 0)
    net = DigitNet(n_classes=6)
    train(net, optim.Adam(net.parameters(), lr=2e-3), x_tr, y_tr, epochs=6)
    log.info("source task accuracy %.3f", score(net, x_te, y_te))

    # stage 2: target task, gentle on the features, faster on the classifier
    x_tr, x_te, y_tr, y_te = load_group(range(6, 10), 6)
    x_tr, y_tr = x_tr[:160], y_tr[:160]
    net.classifier = nn.Linear(128, 4)
    optimizer = optim.AdamW([
        {"params": net.features.parameters(), "lr": 2e-5},
        {"params": net.classifier.parameters(), "lr": 5e-3},
    ], weight_decay=1e-3)
    train(net, optimizer, x_tr, y_tr, epochs=12, size=16)

    majority = torch.bincount(y_tr).argmax()
    log.info("majority accuracy %.3f", (y_te == majority).float().mean().item())
    log.info("target task test accuracy %.3f", score(net, x_te, y_te))


if __name__ == "__main__":
    main()
