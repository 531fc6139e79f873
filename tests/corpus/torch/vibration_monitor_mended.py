"""Predict remaining load of a bearing from windows of a vibration sensor."""
import resource
from dataclasses import dataclass, field
import numpy as np
import torch
from torch import nn


@dataclass
class Config:
    window: int = 128
    channels: int = 24
    batch: int = 64
    epochs: int = 8
    lr: float = 3e-3
    n_train: int = 960
    n_valid: int = 640
    seed: int = 4


@dataclass
class History:
    train: list = field(default_factory=list)
    valid: list = field(default_factory=list)


def rss_mb():
    with open("/proc/self/statm") as fh:
        pages = int(fh.read().split()[1])
    return pages * resource.getpagesize() / 2**20


def record_sensor(n, cfg, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(cfg.window) / cfg.window
    load = rng.uniform(0, 1, n)
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    wave = np.sin(2 * np.pi * (4 + 10 * load[:, None]) * t + phase)
    wave += 0.4 * np.sin(2 * np.pi * 30 * t + phase) + 0.3 * rng.normal(size=(n, cfg.window))
    x = torch.tensor(wave, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor((load - 0.5) / 0.29, dtype=torch.float32).unsqueeze(1)
    return x, y


class TCN(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        layers, c = [], 1
        for d in (1, 2, 4, 8):
            layers += [nn.Conv1d(c, cfg.channels, 5, padding=2 * d, dilation=d), nn.ReLU()]
            c = cfg.channels
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(c, 1)

    def forward(self, x):
        return self.head(self.body(x).mean(-1))


def batches(x, y, size, shuffle):
    order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
    for i in range(0, len(x), size):
        idx = order[i:i + size]
        yield x[idx], y[idx]


def train(cfg):
    torch.manual_seed(cfg.seed)
    xtr, ytr = record_sensor(cfg.n_train, cfg, 1)
    xva, yva = record_sensor(cfg.n_valid, cfg, 2)
    net = TCN(cfg)
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    mse = nn.MSELoss()
    hist = History()
    start = rss_mb()
    for epoch in range(cfg.epochs):
        net.train()
        for xb, yb in batches(xtr, ytr, cfg.batch, True):
            opt.zero_grad()
            loss = mse(net(xb), yb)
            loss.backward()
            opt.step()
            hist.train.append(loss.item())
        net.eval()
        for xb, yb in batches(xva, yva, cfg.batch, False):
            hist.valid.append(mse(net(xb), yb).item())
        k = len(xva) // cfg.batch
        valid = sum(float(v) for v in hist.valid[-k:]) / k
        print(f"epoch {epoch} valid mse {valid:.4f} resident {rss_mb():.0f} MB")
    print(f"final valid mse {valid:.4f} (variance {yva.var():.3f}); "
          f"memory grew by {rss_mb() - start:.0f} MB during {cfg.epochs} epochs")


if __name__ == "__main__":
    train(Config())
