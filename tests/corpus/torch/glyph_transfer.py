"""Learn a small conv net on the digits 0-4, then reuse it for the digits 5-9."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    seed: int = 3
    batch_size: int = 32
    pretrain_epochs: int = 12
    finetune_epochs: int = 40
    lr: float = 2e-3
    lr_finetune: float = 1e-2


class GlyphNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(32 * 16, 96), nn.ReLU(),
        )
        self.head = nn.Linear(96, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def make_loaders(digits, batch_size):
    data = load_digits()
    keep = np.isin(data.target, digits)
    x = torch.tensor(data.images[keep] / 16.0, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(data.target[keep] - min(digits), dtype=torch.long)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)
    train = DataLoader(TensorDataset(x_tr, y_tr), batch_size=batch_size, shuffle=True)
    test = DataLoader(TensorDataset(x_te, y_te), batch_size=256)
    return train, test


def run_epochs(model, loader, optimizer, epochs, tag):
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        running, seen = 0.0, 0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
            seen += len(xb)
        if epoch % 5 == 4:
            print(f"[{tag}] epoch {epoch + 1} loss {running / seen:.4f}")


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in loader)
    return hits / len(loader.dataset)


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)

    src_train, src_test = make_loaders([0, 1, 2, 3, 4], cfg.batch_size)
    model = GlyphNet(n_classes=5)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    run_epochs(model, src_train, optimizer, cfg.pretrain_epochs, "source")
    print(f"source accuracy {accuracy(model, src_test):.3f}")

    dst_train, dst_test = make_loaders([5, 6, 7, 8, 9], cfg.batch_size)
    for p in model.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.Adam(model.head.parameters(), lr=cfg.lr_finetune)
    model.head = nn.Linear(model.head.in_features, 5)
    run_epochs(model, dst_train, optimizer, cfg.finetune_epochs, "target")
    print(f"target accuracy {accuracy(model, dst_test):.3f}")


if __name__ == "__main__":
    main()
