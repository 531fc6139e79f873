"""Tell apart five machine states from short vibration recordings."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    n_clips: int = 1500
    length: int = 256
    n_states: int = 5
    batch_size: int = 128
    base_lr: float = 0.01
    epochs: int = 14
    warmup_epochs: int = 1
    seed: int = 4


def synth(cfg):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(cfg.length) / cfg.length
    base = np.array([9, 14, 20, 27, 35])
    states = rng.integers(0, cfg.n_states, cfg.n_clips)
    clips = np.empty((cfg.n_clips, 1, cfg.length), dtype=np.float32)
    for i, s in enumerate(states):
        f = base[s] + rng.normal(0, 1.0)
        sig = np.sin(2 * np.pi * (f * t + rng.random()))
        sig += 0.6 * np.sin(2 * np.pi * (2.3 * f * t + rng.random()))
        clips[i, 0] = sig + rng.normal(0, 0.9, cfg.length)
    clips = (clips - clips.mean()) / clips.std()
    return torch.from_numpy(clips), torch.from_numpy(states)


class SoundNet(nn.Module):
    def __init__(self, n_states):
        super().__init__()
        self.front = nn.Sequential(
            nn.Conv1d(1, 16, 15, stride=2, padding=7), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=2, padding=4), nn.ReLU(),
            nn.Conv1d(32, 32, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.pool = nn.AdaptiveMaxPool1d(4)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(128, 64), nn.ReLU(),
                                  nn.Linear(64, n_states))

    def forward(self, x):
        return self.head(self.pool(self.front(x)))


class SoundClassifier:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.net = SoundNet(cfg.n_states)
        self.criterion = nn.CrossEntropyLoss()

    def _make_optimizer(self, steps_per_epoch):
        cfg = self.cfg
        lr = cfg.base_lr * cfg.batch_size / 256
        optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        warmup = cfg.warmup_epochs * steps_per_epoch
        total = cfg.epochs * steps_per_epoch

        def factor(step):
            if step < warmup:
                return (step + 1) / warmup
            return 0.5 * (1 + np.cos(np.pi * (step - warmup) / (total - warmup)))

        return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)

    def fit(self, x, y):
        loader = DataLoader(TensorDataset(x, y), batch_size=self.cfg.batch_size, shuffle=True)
        optimizer, schedule = self._make_optimizer(len(loader))
        for epoch in range(self.cfg.epochs):
            self.net.train()
            running = 0.0
            for xb, yb in loader:
                optimizer.zero_grad()
                loss = self.criterion(self.net(xb), yb)
                loss.backward()
                optimizer.step()
                schedule.step()
                running += loss.item() * len(xb)
            print("epoch %2d train loss %.4f" % (epoch, running / len(x)))
        return self

    @torch.no_grad()
    def score(self, x, y):
        self.net.eval()
        logits = self.net(x)
        return self.criterion(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    cfg = Config()
    clips, states = synth(cfg)
    cut = int(0.8 * len(clips))
    clf = SoundClassifier(cfg).fit(clips[:cut], states[:cut])
    loss, acc = clf.score(clips[cut:], states[cut:])
    print("test loss %.4f accuracy %.4f" % (loss, acc))
