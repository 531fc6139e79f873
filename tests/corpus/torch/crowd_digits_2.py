"""
Digits labelled by a careless crowd: a third of the training labels are wrong, so a big net ends up
memorising them.  The weights of the epoch with the lowest validation loss are the ones we ship.
"""
import random

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class Config:
    epochs = 60
    batch = 32
    lr = 2e-3
    width = 256
    crowd_error = 0.35
    n_train = 700
    n_val = 300
    seed = 1


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def load(cfg):
    x, y = load_digits(return_X_y=True)
    x = (x / 16.0).astype(np.float32)
    x_tr, x_rest, y_tr, y_rest = train_test_split(x, y, train_size=cfg.n_train, stratify=y, random_state=cfg.seed)
    x_va, x_te, y_va, y_te = train_test_split(x_rest, y_rest, train_size=cfg.n_val, stratify=y_rest, random_state=cfg.seed)
    # the crowd labelled the training part only, experts did the other two
    wrong = np.random.rand(len(y_tr)) < cfg.crowd_error
    y_tr = np.where(wrong, np.random.randint(0, 10, len(y_tr)), y_tr)
    as_t = lambda a, b: (torch.from_numpy(a), torch.from_numpy(b))
    return as_t(x_tr, y_tr), as_t(x_va, y_va), as_t(x_te, y_te)


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.f = nn.Sequential(
            nn.Linear(64, width), nn.ReLU(),
            nn.Linear(width, width), nn.ReLU(),
            nn.Linear(width, 10),
        )

    def forward(self, x):
        return self.f(x)


class BestKeeper:
    """Holds the weights of the best epoch so far."""

    def __init__(self):
        self.loss = float("inf")
        self.epoch = -1
        self.weights = None

    def update(self, epoch, loss, model):
        if loss < self.loss:
            self.loss, self.epoch = loss, epoch
            self.weights = model.state_dict()

    def restore(self, model):
        model.load_state_dict(self.weights)
        return model


def score(model, data):
    x, y = data
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def fit(cfg):
    seed_all(cfg.seed)
    train, val, test = load(cfg)
    model = Net(cfg.width)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    keeper = BestKeeper()
    x, y = train
    for epoch in range(cfg.epochs):
        model.train()
        for idx in torch.randperm(len(x)).split(cfg.batch):
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        vl, va = score(model, val)
        keeper.update(epoch, vl, model)
        if epoch % 6 == 0:
            print(f"epoch {epoch:3d} train {loss.item():.3f} val loss {vl:.3f} acc {va:.3f}")
    print(f"best epoch {keeper.epoch} with val loss {keeper.loss:.3f}")
    model = keeper.restore(model)
    tl, ta = score(model, test)
    share = torch.bincount(test[1]).max().item() / len(test[1])
    print(f"test loss {tl:.3f} accuracy {ta:.3f} (largest class {share:.3f})")
    return model


if __name__ == "__main__":
    fit(Config())
