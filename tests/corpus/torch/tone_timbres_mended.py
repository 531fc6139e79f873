"""Classify short synthetic instrument tones from the raw waveform with a 1D conv net."""
import argparse
import math
import os

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SR = 4000
LENGTH = 1024
TIMBRES = {
    "flute": [1.0, 0.25, 0.05, 0.0, 0.0],
    "clarinet": [1.0, 0.0, 0.7, 0.0, 0.5],
    "violin": [0.8, 0.7, 0.6, 0.5, 0.4],
    "oboe": [0.3, 1.0, 0.8, 0.3, 0.1],
    "organ": [1.0, 0.9, 0.0, 0.8, 0.0],
}


def synth(rng, profile):
    f0 = rng.uniform(160, 320)
    t = np.arange(LENGTH) / SR
    wave = np.zeros(LENGTH)
    for k, amp in enumerate(profile, start=1):
        a = max(amp + rng.normal(0, 0.08), 0.0)
        wave += a * np.sin(2 * math.pi * f0 * k * t + rng.uniform(0, 2 * math.pi))
    attack = np.minimum(1.0, t / rng.uniform(0.01, 0.05))
    decay = np.exp(-t * rng.uniform(0.5, 3.0))
    wave = wave * attack * decay
    wave = wave / np.abs(wave).max() + rng.normal(0, 0.1, LENGTH)
    return wave.astype(np.float32)


class ToneDataset(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        names = list(TIMBRES)
        self.y = rng.integers(0, len(names), n)
        self.x = np.stack([synth(rng, TIMBRES[names[c]]) for c in self.y])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i])[None], int(self.y[i])


class WaveNetSmall(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.stem = nn.Conv1d(1, 32, 64, stride=4)
        self.bn1 = nn.BatchNorm1d(32)
        self.mid = nn.Conv1d(32, 48, 9, stride=2)
        self.bn2 = nn.BatchNorm1d(48)
        self.fc = nn.Linear(96, n_classes)

    def forward(self, x):
        x = F.max_pool1d(F.relu(self.bn1(self.stem(x))), 4)
        x = F.relu(self.bn2(self.mid(x)))
        x = torch.cat([x.mean(-1), x.amax(-1)], dim=1)
        return self.fc(x)


@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    hits = total = 0
    for x, y in loader:
        hits += (net(x).argmax(1) == y).sum().item()
        total += len(y)
    return hits / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    train = DataLoader(ToneDataset(1600, 1), batch_size=args.batch, shuffle=True)
    test = DataLoader(ToneDataset(500, 2), batch_size=128)
    net = WaveNetSmall(len(TIMBRES))
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.3)

    for epoch in range(args.epochs):
        net.train()
        running = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(y)
        scheduler.step()
        print(f"epoch {epoch + 1:2d}  loss {running / len(train.dataset):.4f}  "
              f"test acc {accuracy(net, test):.3f}")

    os.makedirs("out", exist_ok=True)
    torch.save(net.state_dict(), "out/tones.pt")
    print(f"final test accuracy {accuracy(net, test):.3f} (chance {1 / len(TIMBRES):.3f})")


if __name__ == "__main__":
    main()
