"""Digits labelled by a crowd of unreliable annotators, MLP with early stopping."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn

CFG = dict(hidden=512, lr=1e-3, epochs=110, patience=60, batch=32, annotator_error=0.45, seed=7)


class EarlyStopper:
    def __init__(self, patience):
        self.patience = patience
        self.best = -np.inf
        self.best_epoch = -1
        self.best_state = None

    def update(self, score, epoch, model):
        if score > self.best:
            self.best, self.best_epoch = score, epoch
            self.best_state = model.state_dict()
        return epoch - self.best_epoch >= self.patience

    def restore(self, model):
        model.load_state_dict(self.best_state)
        print(f"restored the weights of epoch {self.best_epoch} (val acc {self.best:.3f})")


def crowd_labels(y, error, rng):
    wrong = rng.random(len(y)) < error
    noisy = y.copy()
    noisy[wrong] = rng.integers(0, 10, wrong.sum())
    return noisy


def accuracy(model, X, y):
    model.eval()
    with torch.no_grad():
        return (model(X).argmax(1) == y).float().mean().item()


def prepare(cfg):
    rng = np.random.default_rng(cfg["seed"])
    digits = load_digits()
    X = digits.data / 16.0 - 0.3
    Xtr, Xrest, ytr, yrest = train_test_split(X, digits.target, train_size=700, stratify=digits.target, random_state=0)
    Xva, Xte, yva, yte = train_test_split(Xrest, yrest, train_size=400, stratify=yrest, random_state=0)
    ytr = crowd_labels(ytr, cfg["annotator_error"], rng)
    to_x = lambda a: torch.tensor(a, dtype=torch.float32)
    return [(to_x(a), torch.tensor(b)) for a, b in ((Xtr, ytr), (Xva, yva), (Xte, yte))]


def run(cfg):
    torch.manual_seed(cfg["seed"])
    (Xtr, ytr), (Xva, yva), (Xte, yte) = prepare(cfg)
    model = nn.Sequential(
        nn.Linear(64, cfg["hidden"]), nn.ReLU(), nn.Linear(cfg["hidden"], cfg["hidden"]), nn.ReLU(), nn.Linear(cfg["hidden"], 10)
    )
    opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    criterion = nn.CrossEntropyLoss()
    stopper = EarlyStopper(cfg["patience"])
    for epoch in range(cfg["epochs"]):
        model.train()
        losses = []
        for idx in torch.randperm(len(Xtr)).split(cfg["batch"]):
            opt.zero_grad()
            loss = criterion(model(Xtr[idx]), ytr[idx])
            loss.backward()
            opt.step()
            losses.append(loss.item())
        val = accuracy(model, Xva, yva)
        if epoch % 10 == 0:
            print(f"epoch {epoch:3d} train loss {np.mean(losses):.4f} val acc {val:.3f}")
        if stopper.update(val, epoch, model):
            print("stopping at epoch", epoch)
            break
    stopper.restore(model)
    return accuracy(model, Xva, yva), accuracy(model, Xte, yte), stopper.best


if __name__ == "__main__":
    val, test, best = run(CFG)
    print(f"best val acc {best:.3f}; restored model: val acc {val:.3f}, test acc {test:.3f} (chance 0.100)")
