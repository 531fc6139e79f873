"""Transfer learning on small glyph images.

Stage 1: a compact CNN learns the digits 0-5 (plenty of examples).
Stage 2: the convolutional part is kept fixed and only a new linear head is
         fitted on the digits 6-9, of which we have a handful of each.
"""
import argparse
import random

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class GlyphNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.fc = nn.Linear(64 * 2 * 2, n_classes)

    def forward(self, x):
        return self.fc(self.features(x))


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def load_split(classes, train_per_class=None, seed=0):
    d = load_digits()
    keep = np.isin(d.target, classes)
    X = (d.images[keep] / 16.0).astype(np.float32)[:, None]
    y = np.searchsorted(np.array(classes), d.target[keep])
    Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
    if train_per_class is not None:
        idx = np.concatenate([np.where(ytr == c)[0][:train_per_class] for c in range(len(classes))])
        Xtr, ytr = Xtr[idx], ytr[idx]
    mean, std = Xtr.mean(), Xtr.std()
    to = lambda a, b: TensorDataset(torch.from_numpy((a - mean) / std), torch.from_numpy(b).long())
    return to(Xtr, ytr), to(Xte, yte)


@torch.no_grad()
def accuracy(model, ds):
    model.eval()
    hits = 0
    for xb, yb in DataLoader(ds, batch_size=256):
        hits += (model(xb).argmax(1) == yb).sum().item()
    return hits / len(ds)


def fit(model, train_ds, test_ds, optimizer, epochs, batch_size, tag, frozen_features=False):
    loader = DataLoader(train_ds, batch_size=batch_size, shuffle=True)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, epochs + 1):
        model.train()
        if frozen_features:
            model.features.eval()      # keep the running statistics of stage 1
        running = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
        if epoch % max(1, epochs // 5) == 0:
            print(f"[{tag}] epoch {epoch:3d}  loss {running / len(train_ds):.4f}  "
                  f"test acc {accuracy(model, test_ds):.3f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--pretrain-epochs", type=int, default=10)
    ap.add_argument("--finetune-epochs", type=int, default=40)
    ap.add_argument("--shots", type=int, default=20)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--seed", type=int, default=7)
    args = ap.parse_args()
    seed_everything(args.seed)

    source_train, source_test = load_split([0, 1, 2, 3, 4, 5])
    model = GlyphNet(6)
    fit(model, source_train, source_test, torch.optim.Adam(model.parameters(), lr=1e-3),
        args.pretrain_epochs, 64, "source")

    target_train, target_test = load_split([6, 7, 8, 9], train_per_class=args.shots)
    for p in model.features.parameters():
        p.requires_grad = False
    model.fc = nn.Linear(model.fc.in_features, 4)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=args.lr)

    fit(model, target_train, target_test, optimizer, args.finetune_epochs, 16, "target",
        frozen_features=True)
    print(f"final target accuracy: {accuracy(model, target_test):.3f} (chance 0.25)")


if __name__ == "__main__":
    main()
