"""Classify synthetic bird-like calls from raw waveforms."""
import argparse
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--species", type=int, default=24)
    p.add_argument("--samples", type=int, default=1800)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.02)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def synth_calls(n, species, seed, length=512, rate=4000):
    rng = np.random.default_rng(seed)
    t = np.arange(length) / rate
    y = rng.integers(0, species, n)
    start = 300 + 40 * (y // 3) + rng.normal(0, 8, n)
    slope = np.array([-1500, 0, 1500])[y % 3]
    phase = 2 * np.pi * (start[:, None] * t + 0.5 * slope[:, None] * t**2) + rng.uniform(0, 6.28, (n, 1))
    wave = np.sin(phase) + 0.4 * rng.normal(size=(n, length))
    return torch.tensor(wave, dtype=torch.float32).unsqueeze(1), torch.tensor(y)


class CallNet(nn.Module):
    def __init__(self, species):
        super().__init__()
        self.front = nn.Sequential(
            nn.Conv1d(1, 32, 33, stride=4, padding=16), nn.BatchNorm1d(32), nn.ReLU(),
            nn.Conv1d(32, 48, 9, stride=4, padding=4), nn.BatchNorm1d(48), nn.ReLU(),
        )
        self.back = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.2), nn.Linear(48 * 32, 64), nn.ReLU(),
            nn.Linear(64, species), nn.Softmax(dim=-1),
        )

    def forward(self, wave):
        return self.back(self.front(wave))


def evaluate(net, loader, criterion):
    net.eval()
    hits = total = 0
    loss = 0.0
    with torch.no_grad():
        for wave, y in loader:
            out = net(wave)
            loss += criterion(out, y).item() * len(y)
            hits += (out.argmax(-1) == y).sum().item()
            total += len(y)
    return loss / total, hits / total


def main():
    a = get_args()
    torch.manual_seed(a.seed)
    train = DataLoader(TensorDataset(*synth_calls(a.samples, a.species, 1)), batch_size=a.batch_size, shuffle=True)
    test = DataLoader(TensorDataset(*synth_calls(600, a.species, 2)), batch_size=200)
    net = CallNet(a.species)
    criterion = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(net.parameters(), lr=a.lr, momentum=0.9)
    for epoch in range(1, a.epochs + 1):
        net.train()
        running = 0.0
        for wave, y in train:
            opt.zero_grad(set_to_none=True)
            loss = criterion(net(wave), y)
            loss.backward()
            opt.step()
            running += loss.item()
        val_loss, acc = evaluate(net, test, criterion)
        print(f"{epoch:2d}/{a.epochs} train {running / len(train):.4f} test {val_loss:.4f} acc {acc:.3f}")
    print(f"final test loss {val_loss:.4f} accuracy {acc:.3f} (chance {1 / a.species:.3f})")


if __name__ == "__main__":
    main()
