"""Activity recognition from wrist accelerometer windows.

Training mixes windows of all recordings; the test recordings are scored one by one,
since in the field a whole recording comes from the device at once.
"""
import logging
from collections import defaultdict

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("har")

ACTIVITIES = ["sit", "walk", "jog", "stairs", "cycle"]
CADENCE = [0.2, 1.8, 2.7, 1.5, 1.2]
POWER = [0.1, 1.0, 2.0, 1.1, 0.8]
SR, LEN = 25, 64


def recording(kind, rng, windows=24):
    cad = CADENCE[kind] * rng.normal(1, 0.07)
    amp = POWER[kind] * rng.uniform(0.75, 1.25)
    gravity = rng.normal(0, 0.3, 3)
    gravity[kind % 3] += 0.5
    out = []
    for _ in range(windows):
        t = np.arange(LEN) / SR + rng.uniform(0, 5)
        axes = [amp * (np.sin(2 * np.pi * cad * t + ph) + 0.4 * np.sin(4 * np.pi * cad * t * (1 + 0.1 * kind)))
                for ph in (0, 0.9, 1.7)]
        out.append(np.stack(axes) + gravity[:, None] + rng.normal(0, 0.3, (3, LEN)))
    return np.stack(out).astype(np.float32)


def build(n_rec, seed):
    rng = np.random.default_rng(seed)
    return [(k, recording(k, rng)) for _ in range(n_rec) for k in range(len(ACTIVITIES))]


class HarNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        def conv(i, o):
            return [nn.Conv1d(i, o, 5, padding=2), nn.BatchNorm1d(o), nn.ReLU(), nn.MaxPool1d(2)]
        self.features = nn.Sequential(*conv(3, 24), *conv(24, 48), *conv(48, 48))
        self.drop = nn.Dropout(0.3)
        self.cls = nn.Linear(48, classes)

    def forward(self, x):
        return self.cls(self.drop(self.features(x).mean(-1)))


@torch.no_grad()
def score(model, recordings):
    per_class = defaultdict(list)
    for kind, windows in recordings:
        guess = model(torch.from_numpy(windows)).argmax(1)
        per_class[kind].append((guess == kind).float().mean().item())
    return {ACTIVITIES[k]: float(np.mean(v)) for k, v in per_class.items()}


def fit(model, loader, epochs=8):
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 6e-3, total_steps=epochs * len(loader))
    for ep in range(epochs):
        model.train()
        hits = count = 0
        for x, y in loader:
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            hits += (logits.argmax(1) == y).sum().item()
            count += len(y)
        log.info("epoch %d  loss %.4f  train acc %.3f", ep + 1, loss.item(), hits / count)


def main():
    torch.manual_seed(5)
    train, test = build(20, 0), build(8, 99)
    x = torch.from_numpy(np.concatenate([w for _, w in train]))
    y = torch.tensor([k for k, w in train for _ in range(len(w))])
    model = HarNet(len(ACTIVITIES))
    fit(model, DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, drop_last=True))
    result = score(model, test)
    for name, a in result.items():
        log.info("  %-7s %.3f", name, a)
    log.info("test accuracy %.3f (guessing %.3f)", np.mean(list(result.values())), 1 / len(ACTIVITIES))


if __name__ == "__main__":
    main()
