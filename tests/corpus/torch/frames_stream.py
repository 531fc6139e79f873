#!/usr/bin/env python
"""Streaming classifier for short synthetic "calls" (4 kinds of frequency sweep), read by several
loader workers from one big memory-mapped file."""
import logging
import math
import os
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

log = logging.getLogger("stream")
logging.basicConfig(level=logging.INFO, format="%(message)s")


@dataclass
class Cfg:
    frames: int = 48
    bands: int = 12
    group: int = 4
    hidden: int = 32
    layers: int = 2
    batch: int = 32
    epochs: int = 5
    workers: int = 2
    lr: float = 4e-3


def synth(n, cfg, rng):
    t = np.linspace(0, 1, cfg.frames)[:, None]
    b = np.arange(cfg.bands)[None]
    y = rng.integers(0, 4, n)
    x = np.empty((n, cfg.frames, cfg.bands), "float32")
    for i, k in enumerate(y):
        lo, hi = rng.uniform(1, 4), rng.uniform(7, 10)
        path = {0: lo + (hi - lo) * t, 1: hi - (hi - lo) * t,
                2: lo + (hi - lo) * abs(2 * t - 1), 3: hi - (hi - lo) * abs(2 * t - 1)}[int(k)]
        x[i] = np.exp(-(b - path) ** 2) + rng.normal(0, 1.1, (cfg.frames, cfg.bands))
    return x, y


class CallStream(IterableDataset):
    """Row `r` goes to worker `r mod workers`; a small buffer mixes the order."""

    def __init__(self, stem, buffer=0):
        self.stem, self.buffer, self.epoch = stem, buffer, 0

    def rows(self):
        x = np.load(self.stem + "_x.npy", mmap_mode="r")
        y = np.load(self.stem + "_y.npy", mmap_mode="r")
        info = get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for r in range(first, len(y), step):
            yield torch.from_numpy(np.array(x[r])), int(y[r])

    def __iter__(self):
        if not self.buffer:
            yield from self.rows()
            return
        info = get_worker_info()
        rng = np.random.default_rng([self.epoch, 0 if info is None else info.id])
        pool = []
        for item in self.rows():
            pool.append(item)
            if len(pool) >= self.buffer:
                j = rng.integers(len(pool))
                pool[j], pool[-1] = pool[-1], pool[j]
                yield pool.pop()
        rng.shuffle(pool)
        yield from pool


class Listener(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.rnn = nn.LSTM(cfg.bands * cfg.group, cfg.hidden, cfg.layers, bidirectional=True, dropout=0.1)
        self.out = nn.Linear(2 * cfg.hidden, 4)

    def forward(self, x):
        c = self.cfg
        B, T, Fq = x.shape
        x = x.reshape(B, T // c.group, c.group * Fq)         # neighbouring frames side by side
        x = x.transpose(0, 1).contiguous()                   # LSTM wants time first
        _, (h, _) = self.rnn(x)
        h = h.view(c.layers, 2, B, c.hidden)[-1]             # top layer, both directions
        return self.out(h.transpose(0, 1).reshape(B, 2 * c.hidden))


def evaluate(net, loader):
    net.eval()
    hit = n = 0
    with torch.no_grad():
        for x, y in loader:
            hit += (net(x).argmax(1) == y).sum().item()
            n += len(y)
    return hit / n, n


def main(cfg=Cfg()):
    os.makedirs("out", exist_ok=True)
    torch.manual_seed(5)
    rng = np.random.default_rng(5)
    for name, n in (("train", 1600), ("val", 500)):
        x, y = synth(n, cfg, rng)
        np.save(f"out/calls_{name}_x.npy", x)
        np.save(f"out/calls_{name}_y.npy", y)

    train_set = CallStream("out/calls_train", buffer=256)
    train = DataLoader(train_set, batch_size=cfg.batch, num_workers=cfg.workers)
    val = DataLoader(CallStream("out/calls_val"), batch_size=100, num_workers=cfg.workers)

    net = Listener(cfg)
    opt = torch.optim.RAdam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        train_set.epoch = epoch           # workers are started anew for every epoch
        net.train()
        n, s = 0, 0.0
        for x, y in train:
            loss = nn.functional.cross_entropy(net(x), y, reduction="sum")
            opt.zero_grad()
            (loss / len(y)).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            opt.step()
            s, n = s + loss.item(), n + len(y)
        acc, m = evaluate(net, val)
        log.info("epoch %d  rows %d  loss %.3f (chance %.3f)  val acc %.3f on %d rows",
                 epoch, n, s / n, math.log(4), acc, m)
    log.info("held-out accuracy %.3f, chance 0.25", acc)


if __name__ == "__main__":
    main()
