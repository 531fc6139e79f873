"""Classify short audio events (four kinds of sweep) from the raw waveform."""
import argparse
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

KINDS = ["rise", "fall", "rise_fall", "fall_rise"]


def synth(kind, rng, n=512, sr=4000.0):
    t = np.arange(n) / sr
    lo, hi = rng.uniform(150, 350), rng.uniform(500, 900)
    u = np.linspace(0, 1, n)
    if kind == "rise":
        f = lo + (hi - lo) * u
    elif kind == "fall":
        f = hi - (hi - lo) * u
    elif kind == "rise_fall":
        f = lo + (hi - lo) * (1 - np.abs(2 * u - 1))
    else:
        f = lo + (hi - lo) * np.abs(2 * u - 1)
    phase = 2 * np.pi * np.cumsum(f) / sr + rng.uniform(0, 2 * np.pi)
    wav = rng.uniform(0.5, 1.5) * np.sin(phase) + rng.normal(0, 1.0, n)
    return wav.astype(np.float32)


def make_set(count, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(KINDS), count)
    x = np.stack([synth(KINDS[k], rng) for k in y])
    return TensorDataset(torch.from_numpy(x)[:, None], torch.from_numpy(y))


class WaveBlock(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv = nn.Conv1d(cin, cout, 7, stride=stride, padding=3)
        self.norm = nn.GroupNorm(4, cout)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


class SweepNet(nn.Module):
    def __init__(self, widths=(8, 8, 8, 8, 8, 8), classes=4):
        super().__init__()
        self.stem = nn.Conv1d(1, 8, 9, stride=2, padding=4)
        blocks = []
        cin = 8
        for w in widths:
            blocks.append(WaveBlock(cin, w, stride=2))
            cin = w
        self.blocks = blocks
        self.head = nn.Linear(cin, classes)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for block in self.blocks:
            x = block(x)
        x = x.mean(dim=-1)
        return self.head(x)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hit = n = 0
    for x, y in loader:
        hit += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hit / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--batch-size", type=int, default=64)
    args = ap.parse_args()

    torch.manual_seed(7)
    train = DataLoader(make_set(2000, 1), batch_size=args.batch_size, shuffle=True)
    valid = DataLoader(make_set(500, 2), batch_size=250)

    model = SweepNet()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-3)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
        print(f"epoch {epoch + 1}: train loss {total / 2000:.4f}  valid acc {accuracy(model, valid):.3f}")
    print(f"final held-out accuracy {accuracy(model, valid):.3f} (guessing 0.25)")


if __name__ == "__main__":
    main()
