"""Classify tag recordings of thornback rays: rest, swim, feed, dive."""
import json
import logging
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import classification_report, confusion_matrix, f1_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger(__name__)
BEHAVIOURS = ["rest", "swim", "feed", "dive"]


@dataclass
class Config:
    n_train: int = 1600
    n_test: int = 500
    length: int = 96
    batch_size: int = 64
    epochs: int = 8
    lr: float = 3e-3
    patience: int = 4
    seed: int = 21


def record(rng, kind, length):
    t = np.arange(length)
    accel = rng.normal(0, 0.5, length)
    depth = rng.normal(0, 0.3, length)
    if kind == 1:
        accel += 1.2 * np.sin(2 * np.pi * t / rng.uniform(9, 13) + rng.uniform(0, 6))
    elif kind == 2:
        for s in rng.integers(0, length - 8, 4):
            accel[s:s + 8] += rng.choice([-1, 1]) * 2.0 * np.hanning(8)
    elif kind == 3:
        mid = rng.integers(30, 66)
        depth += 2.0 / (1 + np.exp(-(t - mid) / 5))
        accel += 0.7 * np.sin(2 * np.pi * t / rng.uniform(9, 13))
    return np.stack([accel, depth])


def make_dataset(n, length, seed):
    rng = np.random.default_rng(seed)
    y = rng.choice(4, size=n, p=[0.4, 0.3, 0.15, 0.15])
    x = np.stack([record(rng, k, length) for k in y])
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


def make_loader(dataset, cfg, shuffle=True):
    return DataLoader(dataset, batch_size=cfg.batch_size, shuffle=shuffle)


class RayNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(2, width, 7, padding=3), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 5, padding=2), nn.BatchNorm1d(width), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, 2 * width, 3, padding=1), nn.ReLU(),
        )
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(4 * width, len(BEHAVIOURS)))

    def forward(self, x):
        h = self.body(x)
        return self.head(torch.cat([h.mean(-1), h.amax(-1)], dim=1))


def train_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def predict(model, loader):
    model.eval()
    return torch.cat([model(x).argmax(1) for x, _ in loader]).numpy()


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    out = Path(tempfile.mkdtemp())
    (out / "config.json").write_text(json.dumps(asdict(cfg)))

    train_set = make_dataset(cfg.n_train, cfg.length, 1)
    test_set = make_dataset(cfg.n_test, cfg.length, 2)
    train_loader = make_loader(train_set, cfg)
    test_loader = make_loader(test_set, cfg)
    y_test = test_set.tensors[1].numpy()

    model = RayNet()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()

    best, waited = -1.0, 0
    for epoch in range(cfg.epochs):
        loss = train_epoch(model, train_loader, optimizer, criterion)
        f1 = f1_score(y_test, predict(model, test_loader), average="macro")
        log.info("epoch %d  loss %.4f  macro f1 %.3f", epoch + 1, loss, f1)
        if f1 > best:
            best, waited = f1, 0
            torch.save(model.state_dict(), out / "best.pt")
        else:
            waited += 1
            if waited >= cfg.patience:
                log.info("no progress for %d epochs, stopping", waited)
                break

    model.load_state_dict(torch.load(out / "best.pt"))
    pred = predict(model, test_loader)
    print(confusion_matrix(y_test, pred))
    print(classification_report(y_test, pred, target_names=BEHAVIOURS, zero_division=0))


if __name__ == "__main__":
    main()
