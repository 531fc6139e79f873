import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

RATE = 8000
DRUMS = ["kick", "snare", "hat", "tom"]


def hit(kind, g):
    t = torch.arange(RATE // 4) / RATE
    noise = torch.randn(len(t), generator=g)
    u = torch.rand(3, generator=g)
    if kind == 0:
        w = torch.sin(2 * math.pi * (55 + 20 * u[0]) * t * (1 - 0.8 * t)) * torch.exp(-t * 14)
    elif kind == 1:
        w = 0.6 * noise * torch.exp(-t * 22) + 0.5 * torch.sin(2 * math.pi * (180 + 40 * u[0]) * t) * torch.exp(-t * 25)
    elif kind == 2:
        w = torch.diff(noise, prepend=noise[:1]) * 0.5 * torch.exp(-t * (35 + 20 * u[0]))
    else:
        w = torch.sin(2 * math.pi * (110 + 60 * u[0]) * t) * torch.exp(-t * 12)
    w = w * (0.4 + 0.6 * u[1]) + 0.02 * torch.randn(len(t), generator=g)
    return torch.roll(w, int(u[2] * 200))


def spectrograms(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(len(DRUMS), (n,), generator=g)
    waves = torch.stack([hit(int(k), g) for k in y])
    spec = torch.stft(waves, 128, hop_length=64, window=torch.hann_window(128), return_complex=True).abs()
    spec = torch.log(spec + 1e-3)
    return ((spec - spec.mean()) / spec.std()).unsqueeze(1), y


class DrumNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
        )
        self.classifier = nn.Linear(16 * 16, len(DRUMS))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--accumulate", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    x, y = spectrograms(800, seed=1)
    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
    x_val, y_val = spectrograms(200, seed=2)

    model = DrumNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        model.train()
        optimizer.zero_grad()
        running = 0.0
        for step, (xb, yb) in enumerate(loader):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = criterion(model(xb), yb)
            (loss / args.accumulate).backward()
            running += loss.item()
            if (step + 1) % args.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            acc = (model(x_val).argmax(1) == y_val).float().mean().item()
        print(f"epoch {epoch + 1:2d} loss {running / len(loader):.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
