"""Gesture recognition from a wrist IMU: windows of 40 samples x 6 channels."""
import logging
import sys
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
log = logging.getLogger("imu")


@dataclass
class Cfg:
    n: int = 1600
    steps: int = 40
    channels: int = 6
    classes: int = 5
    hidden: int = 48
    batch: int = 32
    epochs: int = 12
    lr: float = 3e-3
    seed: int = 5


def simulate(cfg, rng):
    """A gesture is a burst of rotation somewhere in the first part of the window."""
    y = rng.integers(0, cfg.classes, cfg.n)
    t = np.arange(cfg.steps)
    mix = rng.normal(size=(2, cfg.channels))
    x = 0.35 * rng.normal(size=(cfg.n, cfg.steps, cfg.channels))
    for i, k in enumerate(y):
        centre = rng.uniform(10, 24)
        env = np.exp(-0.5 * ((t - centre) / 5.0) ** 2)
        freq = 0.15 + 0.17 * k
        phase = rng.uniform(0, 2 * np.pi)
        burst = np.stack([np.sin(freq * t + phase), np.cos(freq * t + phase)], 1) * env[:, None]
        x[i] += 1.5 * burst @ mix
    return x.astype("float32"), y


class GestureNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.norm = nn.LayerNorm(cfg.channels)
        self.rnn = nn.LSTM(cfg.channels, cfg.hidden, num_layers=1, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(cfg.hidden, cfg.classes)

    def forward(self, x):
        out, _ = self.rnn(self.norm(x))
        return self.fc(self.drop(out[:, -1]))


def accuracy(model, loader):
    model.eval()
    good = 0
    with torch.no_grad():
        for xb, yb in loader:
            good += (model(xb).argmax(1) == yb).sum().item()
    return good / len(loader.dataset)


def run(cfg):
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x, y = simulate(cfg, rng)
    cut = int(0.8 * cfg.n)
    mu, sd = x[:cut].mean((0, 1)), x[:cut].std((0, 1))
    x = torch.from_numpy((x - mu) / sd)
    y = torch.from_numpy(y)
    train = DataLoader(TensorDataset(x[:cut], y[:cut]), batch_size=cfg.batch, shuffle=True)
    test = DataLoader(TensorDataset(x[cut:], y[cut:]), batch_size=64)

    model = GestureNet(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in train:
            opt.zero_grad(set_to_none=True)
            loss = loss_fn(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            opt.step()
            total += loss.item() * len(yb)
        log.info("epoch %02d loss %.4f test acc %.3f", epoch, total / cut, accuracy(model, test))
    base = np.bincount(y[cut:].numpy()).max() / (cfg.n - cut)
    log.info("test accuracy %.3f, majority class %.3f", accuracy(model, test), base)


if __name__ == "__main__":
    run(Cfg())
