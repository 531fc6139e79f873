# Transfer experiment: learn features on digits 0-4, reuse them for digits 5-9.
import logging
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("transfer")


class DigitNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(),
            nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(),
            nn.Flatten(),
        )
        self.head = nn.Linear(48 * 4 * 4, num_classes)

    def forward(self, x):
        return self.head(self.features(x))


def make_loaders(classes, seed=0, batch_size=32):
    data = load_digits()
    keep = np.isin(data.target, classes)
    x = (data.images[keep] / 16.0).astype("float32")[:, None]
    y = np.searchsorted(classes, data.target[keep])
    xa, xb, ya, yb = train_test_split(x, y, test_size=0.3, random_state=seed, stratify=y)
    mk = lambda a, b, s: DataLoader(
        TensorDataset(torch.tensor(a), torch.tensor(b)), batch_size=batch_size, shuffle=s)
    return mk(xa, ya, True), mk(xb, yb, False)


def evaluate(model, loader):
    model.eval()
    correct, n = 0, 0
    with torch.no_grad():
        for x, y in loader:
            correct += int((model(x).argmax(dim=1) == y).sum())
            n += y.numel()
    return correct / n


def run_epoch(model, loader, optimizer, criterion):
    model.train()
    losses = []
    for x, y in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def pretrain(model, epochs=8):
    train, test = make_loaders([0, 1, 2, 3, 4])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for ep in range(epochs):
        loss = run_epoch(model, train, optimizer, criterion)
        log.info("pretrain %d loss %.4f acc %.3f", ep, loss, evaluate(model, test))
    return model


def adapt(model, epochs=15):
    train, test = make_loaders([5, 6, 7, 8, 9])
    in_features = model.head.in_features
    for p in model.features.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(model.head.parameters(), lr=3e-3, weight_decay=1e-4)
    model.head = nn.Linear(in_features, 5)
    criterion = nn.CrossEntropyLoss()
    best = 0.0
    for ep in range(epochs):
        loss = run_epoch(model, train, optimizer, criterion)
        acc = evaluate(model, test)
        best = max(best, acc)
        log.info("adapt %d loss %.4f acc %.3f", ep, loss, acc)
    return evaluate(model, test), best


if __name__ == "__main__":
    torch.manual_seed(11)
    out = Path("out")
    out.mkdir(exist_ok=True)
    net = pretrain(DigitNet(5))
    torch.save(net.state_dict(), out / "pretrained.pt")
    final, best = adapt(net)
    log.info("digits 5-9: final accuracy %.3f best %.3f (majority about 0.20)", final, best)
