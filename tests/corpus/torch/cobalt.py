import copy
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


@dataclass
class Config:
    n_samples: int = 2400
    size: int = 16
    n_classes: int = 4
    batch_size: int = 64
    eval_batch_size: int = 4
    epochs: int = 8
    lr: float = 2e-3
    weight_decay: float = 1e-4
    patience: int = 4
    seed: int = 7


class ShapesDataset(Dataset):
    """Circles, squares, crosses and diagonal stripes, drawn with noise."""

    def __init__(self, cfg):
        rng = np.random.default_rng(cfg.seed)
        s = cfg.size
        yy, xx = np.mgrid[0:s, 0:s]
        self.images, self.labels = [], []
        for _ in range(cfg.n_samples):
            k = int(rng.integers(cfg.n_classes))
            cx, cy = rng.uniform(5, s - 6, size=2)
            r = rng.uniform(3, 5)
            if k == 0:
                m = (xx - cx) ** 2 + (yy - cy) ** 2 <= r * r
            elif k == 1:
                m = (abs(xx - cx) <= r * 0.85) & (abs(yy - cy) <= r * 0.85)
            elif k == 2:
                m = ((abs(xx - cx) <= 1) & (abs(yy - cy) <= r)) | ((abs(yy - cy) <= 1) & (abs(xx - cx) <= r))
            else:
                m = (abs((xx - cx) - (yy - cy)) <= 1.5) & (abs(xx - cx) <= r)
            img = m * rng.uniform(0.6, 1.0) + rng.normal(0, 0.25, (s, s))
            self.images.append(img.astype(np.float32))
            self.labels.append(k)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return torch.from_numpy(self.images[i]).unsqueeze(0), self.labels[i]


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class ConvNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.stem = conv_block(1, 16)
        self.body = nn.Sequential(conv_block(16, 32), nn.MaxPool2d(2), nn.Dropout2d(0.3), conv_block(32, 64), nn.MaxPool2d(2))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(64 * 16, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, n_classes))

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


class Trainer:
    def __init__(self, model, train_set, val_set, cfg):
        self.model, self.cfg = model, cfg
        self.train_loader = DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True)
        self.val_loader = DataLoader(val_set, batch_size=cfg.eval_batch_size)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, cfg.epochs)
        self.best = (-math.inf, None)

    def _step(self, batch):
        x, y = batch
        logits = self.model(x)
        return self.criterion(logits, y), (logits.argmax(1) == y).float().sum().item(), len(y)

    def train_one_epoch(self):
        self.model.train()
        total, hits, seen = 0.0, 0, 0
        for batch in self.train_loader:
            self.optimizer.zero_grad(set_to_none=True)
            loss, h, n = self._step(batch)
            loss.backward()
            self.optimizer.step()
            total, hits, seen = total + loss.item() * n, hits + h, seen + n
        self.scheduler.step()
        return total / seen, hits / seen

    def validate(self):
        total, hits, seen = 0.0, 0, 0
        with torch.no_grad():
            for batch in self.val_loader:
                loss, h, n = self._step(batch)
                total, hits, seen = total + loss.item() * n, hits + h, seen + n
        return total / seen, hits / seen

    def fit(self):
        stale = 0
        for epoch in range(1, self.cfg.epochs + 1):
            tl, ta = self.train_one_epoch()
            vl, va = self.validate()
            print(f"epoch {epoch:02d} | train {tl:.4f} / {ta:.3f} | val {vl:.4f} / {va:.3f}")
            if va > self.best[0]:
                self.best, stale = (va, copy.deepcopy(self.model.state_dict())), 0
            else:
                stale += 1
                if stale >= self.cfg.patience:
                    break
        self.model.load_state_dict(self.best[1])
        return self.best[0]


if __name__ == "__main__":
    cfg = Config()
    torch.manual_seed(cfg.seed)
    data = ShapesDataset(cfg)
    n_val = len(data) // 5
    train_set, val_set = random_split(data, [len(data) - n_val, n_val])
    best = Trainer(ConvNet(cfg.n_classes), train_set, val_set, cfg).fit()
    print(f"best validation accuracy {best:.3f}")
