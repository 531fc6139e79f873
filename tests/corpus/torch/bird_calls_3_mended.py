"""Pretrain a call encoder on many common species, then move it to five rare ones with few clips."""
import copy

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FRAMES, BANDS = 40, 24


class Species:
    def __init__(self, rng):
        self.base = rng.uniform(4, 20)
        self.sweep = rng.uniform(-6, 6)
        self.rate = rng.uniform(0.5, 3.0)
        self.width = rng.uniform(0.8, 1.8)

    def clip(self, rng):
        t = np.linspace(0, 1, FRAMES)[:, None]
        f = np.arange(BANDS)[None]
        centre = self.base + self.sweep * (t - 0.5) + 2.0 * np.sin(2 * np.pi * (self.rate * t + rng.random()))
        spec = np.exp(-((f - centre - rng.normal(0, 0.4)) / self.width) ** 2)
        return (spec * rng.uniform(0.7, 1.3) + 0.35 * rng.standard_normal((FRAMES, BANDS))).astype(np.float32)


def clips(species, per, rng):
    x = np.stack([s.clip(rng) for s in species for _ in range(per)])
    y = np.repeat(np.arange(len(species)), per)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


class CallNet(nn.Module):
    def __init__(self, n_classes, width=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(BANDS, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(), nn.AdaptiveMaxPool1d(4),
            nn.Flatten())
        self.head = nn.Linear(4 * width, n_classes)

    def forward(self, x):
        return self.head(self.body(x.transpose(1, 2)))


def run_epochs(net, opt, loader, epochs, tag):
    ce = nn.CrossEntropyLoss()
    for e in range(epochs):
        net.train()
        total = hits = n = 0
        for x, y in loader:
            out = net(x)
            loss = ce(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
        if (e + 1) % 3 == 0:
            print(f"[{tag}] epoch {e + 1} loss {total / n:.3f} acc {hits / n:.3f}")


def test(net, data):
    net.eval()
    with torch.no_grad():
        x, y = data.tensors
        return (net(x).argmax(1) == y).float().mean().item()


def transfer(pretrained, n_classes, lr):
    net = copy.deepcopy(pretrained)
    for p in net.body.parameters():
        p.requires_grad = False
    net.head = nn.Linear(net.head.in_features, n_classes)
    opt = torch.optim.Adam(net.parameters(), lr=lr)
    return net, opt


if __name__ == "__main__":
    torch.manual_seed(6)
    rng = np.random.default_rng(6)
    common = [Species(rng) for _ in range(20)]
    rare = [Species(rng) for _ in range(5)]

    net = CallNet(len(common))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    run_epochs(net, opt, DataLoader(clips(common, 220, rng), 64, shuffle=True), 9, "common")
    print("common species, test:", round(test(net, clips(common, 20, rng)), 3))

    few = DataLoader(clips(rare, 24, rng), 20, shuffle=True)
    net, opt = transfer(net, len(rare), lr=3e-3)
    run_epochs(net, opt, few, 15, "rare")
    print("rare species, test:", round(test(net, clips(rare, 100, rng)), 3))
