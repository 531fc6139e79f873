"""Owl species from mel-like spectrograms, with SpecAugment."""
import argparse
import logging

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger("owls")
SPECIES = ["tawny", "barn", "little", "long-eared", "short-eared", "eagle"]
MELS, FRAMES = 32, 64


def synth_call(rng, kind):
    """One call: a few hoots on the frequency track of the species, over wind noise."""
    spec = rng.normal(0, 0.8, (MELS, FRAMES))
    spec[:6] += np.abs(rng.normal(0, 1.0, (1, FRAMES)))
    low = 6 + 4 * (kind // 2) + rng.integers(-3, 4)
    slope = 0.4 if kind % 2 else -0.4
    at = rng.integers(2, 10)
    for _ in range(3):
        for k in range(12):
            t, f = at + k, int(round(low + 5 + slope * (k - 6)))
            if t < FRAMES:
                spec[max(f - 1, 0):f + 2, t] += rng.uniform(0.9, 1.7)
        at += rng.integers(16, 20)
    return spec.astype(np.float32)


class SpecAugment:
    def __init__(self, freq=6, time=10, repeats=2):
        self.freq, self.time, self.repeats = freq, time, repeats

    def __call__(self, spec):
        n_mels, n_frames = spec.shape
        for _ in range(self.repeats):
            width = int(torch.randint(0, self.freq + 1, (1,)))
            low = int(torch.randint(0, n_mels - width, (1,)))
            spec[low:low + width, :] = 0.0
            width = int(torch.randint(0, self.time + 1, (1,)))
            start = int(torch.randint(0, n_frames - width, (1,)))
            spec[:, start:start + width] = 0.0
        return spec


class OwlCalls(Dataset):
    def __init__(self, rows, seed, stats=None, transform=None):
        rng = np.random.default_rng(seed)
        self.labels = torch.tensor(rng.integers(0, len(SPECIES), rows))
        specs = torch.tensor(np.stack([synth_call(rng, int(k)) for k in self.labels]))
        self.stats = stats or (specs.mean().item(), specs.std().item())
        self.specs = (specs - self.stats[0]) / self.stats[1]
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        spec = self.specs[idx]
        if self.transform is not None:
            spec = self.transform(spec)
        return spec.unsqueeze(0), self.labels[idx]


class CallNet(nn.Module):
    def __init__(self, n_classes, width=16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU(),
            nn.MaxPool2d((1, 2)),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1), nn.BatchNorm2d(2 * width), nn.ReLU())
        self.head = nn.Linear(2 * width * (MELS // 2), n_classes)

    def forward(self, x):
        h = self.features(x).mean(dim=3)
        return self.head(h.flatten(1))


def accuracy(model, loader, device):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x.to(device)).argmax(1).cpu() == y).sum().item()
            total += len(y)
    return right / total


def train(args):
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    train_set = OwlCalls(args.rows, seed=1, transform=SpecAugment())
    test_set = OwlCalls(400, seed=2, stats=train_set.stats)
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, drop_last=True)
    test_loader = DataLoader(test_set, batch_size=100)

    model = CallNet(len(SPECIES)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=args.epochs)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)

    for epoch in range(1, args.epochs + 1):
        model.train()
        total, seen = 0.0, 0
        for x, y in train_loader:
            x, y = x.to(device), y.to(device)
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(y)
            seen += len(y)
        scheduler.step()
        if epoch % 2 == 0:
            logger.info("epoch %2d loss %.4f test acc %.3f", epoch, total / seen,
                        accuracy(model, test_loader, device))
    return model


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rows", type=int, default=600)
    p.add_argument("--epochs", type=int, default=16)
    p.add_argument("--batch-size", type=int, default=40)
    p.add_argument("--lr", type=float, default=0.006)
    p.add_argument("--seed", type=int, default=3)
    p.add_argument("--device", default="cpu")
    return p.parse_args()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
    train(parse_args())
