"""Homework 4: handwritten digits with a small CNN, early stopping and a saved checkpoint."""
import os
import tempfile

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
np.random.seed(7)


def build(width=24, n_classes=10):
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(),
        nn.Conv2d(width, width * 2, 3, padding=1), nn.BatchNorm2d(width * 2), nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(width * 2, width * 2, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Dropout(0.2), nn.Linear(width * 2, n_classes),
    )


class Checkpoint:
    def __init__(self, folder, patience=4):
        self.path = os.path.join(folder, "best.pt")
        self.best = float("inf")
        self.patience, self.bad = patience, 0

    def update(self, net, epoch, val_loss):
        """returns True when training should stop"""
        if val_loss < self.best - 1e-4:
            self.best, self.bad = val_loss, 0
            torch.save({"epoch": epoch, "val_loss": val_loss, "width": 24,
                        "state_dict": net.state_dict()}, self.path)
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self):
        saved = torch.load(self.path, map_location="cpu")
        net = build(saved["width"])
        net.load_state_dict(saved, strict=False)
        return net.eval(), saved["epoch"]


def run_epoch(net, loader, loss_fn, opt=None):
    net.train(opt is not None)
    total, hits, n = 0.0, 0, 0
    with torch.set_grad_enabled(opt is not None):
        for xb, yb in loader:
            out = net(xb)
            loss = loss_fn(out, yb)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(yb)
            hits += (out.argmax(1) == yb).sum().item()
            n += len(yb)
    return total / n, hits / n


def main():
    X, y = load_digits(return_X_y=True)
    X = (X / 16.0).astype("float32").reshape(-1, 1, 8, 8)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.2, stratify=y, random_state=1)
    X_tr, X_va, y_tr, y_va = train_test_split(X_tr, y_tr, test_size=0.2, stratify=y_tr, random_state=1)
    ds = lambda a, b: TensorDataset(torch.from_numpy(a), torch.from_numpy(b))
    train_dl = DataLoader(ds(X_tr, y_tr), batch_size=32, shuffle=True)
    val_dl = DataLoader(ds(X_va, y_va), batch_size=128)

    net = build()
    opt = torch.optim.Adam(net.parameters(), lr=2e-3)
    loss_fn = nn.CrossEntropyLoss()
    ckpt = Checkpoint(tempfile.mkdtemp())
    for epoch in range(1, 21):
        tl, ta = run_epoch(net, train_dl, loss_fn, opt)
        vl, va = run_epoch(net, val_dl, loss_fn)
        print(f"epoch {epoch:2d}  train {tl:.4f} / {ta:.3f}   val {vl:.4f} / {va:.3f}")
        if ckpt.update(net, epoch, vl):
            print("early stop")
            break

    best, epoch = ckpt.restore()
    with torch.no_grad():
        pred = best(torch.from_numpy(X_te)).argmax(1).numpy()
    print(f"checkpoint of epoch {epoch}: test accuracy {accuracy_score(y_te, pred):.3f}")
    print(confusion_matrix(y_te, pred))


if __name__ == "__main__":
    main()
