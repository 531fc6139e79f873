import argparse
import math
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

SPECIES = ["chiffchaff", "blackcap", "whitethroat", "reed_warbler"]
BANDS = 24


def song(species, rng):
    """A log-mel picture of one song: a trill whose pitch moves in the manner of the species."""
    frames = rng.randint(30, 70)
    t = torch.arange(frames).float()
    start = rng.uniform(8, 14)
    if species == 0:
        pitch = start + 4 * torch.sign(torch.sin(2 * math.pi * t / 10))
    elif species == 1:
        pitch = start + 6 * t / frames
    elif species == 2:
        pitch = start - 6 * t / frames
    else:
        pitch = start + 0 * t
    bands = torch.arange(BANDS).float()
    mel = torch.exp(-0.5 * ((bands[None] - pitch[:, None]) / 1.2) ** 2)
    return mel + 0.25 * torch.randn(frames, BANDS)


class Songs(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.items = [(song(i % 4, rng), i % 4) for i in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        mel, label = self.items[i]
        return mel.T, label


class SongNet(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(BANDS, 32, 7, padding=3), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 48, 7, padding=3), nn.BatchNorm1d(48), nn.ReLU(),
        )
        self.pool = nn.AdaptiveMaxPool1d(1)
        self.fc = nn.Linear(48, classes)

    def forward(self, x):
        return self.fc(self.pool(self.conv(x)).flatten(1))


def evaluate(model, loader):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return right / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--batch-size", type=int, default=32)
    args = ap.parse_args()

    torch.manual_seed(11)
    train_loader = DataLoader(Songs(600, 1), batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(Songs(200, 2), batch_size=args.batch_size)

    model = SongNet()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            opt.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"{epoch}: loss {total / len(train_loader):.3f}  val acc {evaluate(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
