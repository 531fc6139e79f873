from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    width: int = 24
    bn_momentum: float = 0.1
    lr: float = 2e-3
    batch_size: int = 32
    epochs: int = 6
    seed: int = 5


STATES = ["normal", "inner_race", "outer_race", "cage", "imbalance"]


def synth_clip(rng, state, n=400):
    t = np.arange(n) / 2000.0
    shaft = rng.uniform(24, 30)
    x = 0.6 * np.sin(2 * np.pi * shaft * t + rng.uniform(0, 6.28))
    gain = rng.uniform(0.4, 2.5)
    if state in (1, 2, 3):
        rate, ring = [(148, 420), (98, 310), (11, 180)][state - 1]
        period = int(2000 / rate)
        env = np.exp(-(np.arange(n) % period) / (0.3 * period))
        x = x + 0.9 * env * np.sin(2 * np.pi * ring * t + rng.uniform(0, 6.28))
    if state == 4:
        x = x * rng.uniform(1.8, 2.4) + 0.5 * np.sin(4 * np.pi * shaft * t)
    return gain * (x + 0.45 * rng.standard_normal(n))


def make_clips(rng, n):
    y = rng.integers(0, len(STATES), n)
    x = np.stack([synth_clip(rng, s) for s in y]).astype("float32")
    return torch.from_numpy(x).unsqueeze(1), torch.from_numpy(y)


def conv_block(cin, cout, cfg, stride=2):
    return nn.Sequential(
        nn.Conv1d(cin, cout, 9, stride=stride, padding=4, bias=False),
        nn.BatchNorm1d(cout, momentum=cfg.bn_momentum),
        nn.ReLU(),
    )


class SoundNet(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        w = cfg.width
        self.features = nn.Sequential(
            conv_block(1, w, cfg), conv_block(w, w, cfg), conv_block(w, 2 * w, cfg),
            conv_block(2 * w, 2 * w, cfg), conv_block(2 * w, 4 * w, cfg),
        )
        self.fc = nn.Linear(4 * w, len(STATES))

    def forward(self, x):
        return self.fc(self.features(x).mean(-1))


class Experiment:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        rng = np.random.default_rng(cfg.seed)
        train, test = make_clips(rng, 1634), make_clips(rng, 500)
        mu, sd = train[0].mean(), train[0].std()
        self.train_set = TensorDataset((train[0] - mu) / sd, train[1])
        self.test_set = TensorDataset((test[0] - mu) / sd, test[1])
        self.cfg = cfg
        self.net = SoundNet(cfg)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)

    def run_epoch(self):
        self.net.train()
        hits, total = 0, 0
        for x, y in DataLoader(self.train_set, self.cfg.batch_size, shuffle=True):
            out = self.net(x)
            loss = nn.functional.cross_entropy(out, y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            hits += (out.argmax(1) == y).sum().item()
            total += len(y)
        return hits / total

    @torch.no_grad()
    def evaluate(self):
        self.net.eval()
        loss, hits = 0.0, 0
        for x, y in DataLoader(self.test_set, 100):
            out = self.net(x)
            loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
            hits += (out.argmax(1) == y).sum().item()
        return loss / len(self.test_set), hits / len(self.test_set)


if __name__ == "__main__":
    exp = Experiment(Config())
    for epoch in range(exp.cfg.epochs):
        train_acc = exp.run_epoch()
        test_loss, test_acc = exp.evaluate()
        print(f"epoch {epoch} train acc {train_acc:.3f} test loss {test_loss:.3f} test acc {test_acc:.3f}")
    print(f"final test loss {test_loss:.3f} test accuracy {test_acc:.3f} (chance 0.2)")
