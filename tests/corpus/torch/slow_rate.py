# Tell apart six kinds of noisy chirps with a 1-d convolutional network.
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Settings:
    samples: int = 2400
    length: int = 128
    batch_size: int = 32
    epochs: int = 10
    lr: float = 1e-3
    gamma: float = 0.85
    seed: int = 17


def make_chirps(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    kind = torch.randint(6, (cfg.samples,), generator=g)
    start = torch.tensor([4.0, 4.0, 8.0, 8.0, 12.0, 12.0])[kind]
    slope = torch.tensor([4.0, -3.0, 4.0, -4.0, 4.0, -4.0])[kind]
    t = torch.linspace(0, 1, cfg.length)
    phase = 2 * math.pi * torch.rand(cfg.samples, 1, generator=g)
    wave = torch.sin(2 * math.pi * (start[:, None] * t + 0.5 * slope[:, None] * t ** 2) + phase)
    noise = 1.3 * torch.randn(cfg.samples, cfg.length, generator=g)
    return TensorDataset((wave + noise).unsqueeze(1), kind)


class ChirpNet(nn.Module):
    def __init__(self, classes=6):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 24, 9, padding=4), nn.BatchNorm1d(24), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(24, 32, 9, padding=4), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(32, 48, 9, padding=4), nn.BatchNorm1d(48), nn.ReLU(), nn.MaxPool1d(4),
        )
        self.classify = nn.Sequential(nn.Flatten(), nn.Dropout(0.2), nn.Linear(48 * 8, classes))

    def forward(self, x):
        return self.classify(self.features(x))


class Learner:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        data = make_chirps(cfg)
        n_test = cfg.samples // 5
        part, test = random_split(data, [cfg.samples - n_test, n_test])
        self.train_loader = DataLoader(part, batch_size=cfg.batch_size, shuffle=True)
        self.test_loader = DataLoader(test, batch_size=256)
        self.model = ChirpNet()
        self.loss_fn = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr)
        self.scheduler = torch.optim.lr_scheduler.ExponentialLR(self.optimizer, gamma=cfg.gamma)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.loss_fn(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.scheduler.step()
            total += loss.item()
        return total / len(self.train_loader)

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.test_loader)
        return hits / len(self.test_loader.dataset)

    def fit(self):
        for epoch in range(1, self.cfg.epochs + 1):
            loss = self.train_epoch()
            print(f"epoch {epoch:2d}  loss {loss:.4f}  test accuracy {self.accuracy():.3f}")


Learner(Settings()).fit()
