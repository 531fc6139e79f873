from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


@dataclass
class Config:
    epochs: int = 12
    batch_size: int = 64
    lr: float = 2e-3
    weight_decay: float = 1e-4
    width: int = 16
    seed: int = 7


class DigitImages(Dataset):
    def __init__(self, images, labels):
        self.images = torch.as_tensor(images, dtype=torch.float32).unsqueeze(1) / 16.0
        self.labels = torch.as_tensor(labels, dtype=torch.long)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]

    def only(self, label):
        keep = self.labels == label
        sub = DigitImages.__new__(DigitImages)
        sub.images, sub.labels = self.images[keep], self.labels[keep]
        return sub


def block(c_in, c_out):
    return nn.Sequential(OrderedDict(
        conv=nn.Conv2d(c_in, c_out, 3, padding=1, bias=False),
        norm=nn.BatchNorm2d(c_out),
        act=nn.ReLU(inplace=True),
    ))


class SmallConvNet(nn.Module):
    def __init__(self, width, n_classes=10):
        super().__init__()
        self.stem = block(1, width)
        self.body = nn.Sequential(block(width, width * 2), nn.MaxPool2d(2),
                                  block(width * 2, width * 4), nn.MaxPool2d(2))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(width * 4 * 4, 64, bias=False), nn.BatchNorm1d(64),
                                  nn.ReLU(), nn.Linear(64, n_classes))

    def forward(self, x):
        return self.head(self.body(self.stem(x)))


class Experiment:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        np.random.seed(cfg.seed)
        digits = load_digits()
        x_tr, x_te, y_tr, y_te = train_test_split(
            digits.images, digits.target, test_size=0.25, stratify=digits.target, random_state=cfg.seed)
        self.train_set, self.test_set = DigitImages(x_tr, y_tr), DigitImages(x_te, y_te)
        self.loader = DataLoader(self.train_set, batch_size=cfg.batch_size, shuffle=True, drop_last=True)
        self.model = SmallConvNet(cfg.width)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)

    def train_epoch(self):
        running, seen = 0.0, 0
        for images, labels in self.loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(images), labels)
            loss.backward()
            self.optimizer.step()
            running += loss.item() * len(labels)
            seen += len(labels)
        return running / seen

    @torch.no_grad()
    def recall_per_class(self):
        recalls = []
        for label in range(10):
            hits, n = 0, 0
            for images, labels in DataLoader(self.test_set.only(label), batch_size=self.cfg.batch_size):
                hits += (self.model(images).argmax(1) == labels).sum().item()
                n += len(labels)
            recalls.append(hits / n)
        return np.array(recalls)

    def run(self):
        for epoch in range(1, self.cfg.epochs + 1):
            loss = self.train_epoch()
            recalls = self.recall_per_class()
            print(f"epoch {epoch:2d}  loss {loss:.4f}  mean recall {recalls.mean():.3f}  worst {recalls.min():.3f}")
        print("recall by digit:", np.round(recalls, 2))


if __name__ == "__main__":
    Experiment(Config()).run()
