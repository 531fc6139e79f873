"""Kaggle-style starter: put patients into four progression groups."""
import argparse
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import KFold
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset


@dataclass
class Config:
    folds: int = 5
    epochs: int = 40
    lr: float = 3e-3
    batch_size: int = 32
    hidden: int = 32
    n_groups: int = 4


class ProgressionData(Dataset):
    """x: ten scaled measurements, y: group of the progression score, from mild to severe"""

    def __init__(self, n_groups: int):
        raw = load_diabetes()
        x = raw.data
        self.x = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32)
        self.edges = np.quantile(raw.target, np.arange(n_groups) / n_groups)
        self.y = torch.from_numpy(np.digitize(raw.target, self.edges)).long()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def make_model(cfg: Config, d_in: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(d_in, cfg.hidden), nn.ReLU(), nn.Dropout(0.3),
        nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.n_groups),
    )


def train_fold(cfg: Config, data: Dataset, tr, va) -> float:
    train_loader = DataLoader(Subset(data, tr), batch_size=cfg.batch_size, shuffle=True)
    val_loader = DataLoader(Subset(data, va), batch_size=256)
    model = make_model(cfg, data.x.shape[1])
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-2)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(cfg.epochs):
        model.train()
        tot = 0.0
        for xb, yb in train_loader:
            loss = loss_fn(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(xb)
        if epoch % 10 == 9:
            print(f"    epoch {epoch + 1}: loss {tot / len(tr):.4f}")
    model.eval()
    pred, true = [], []
    with torch.no_grad():
        for xb, yb in val_loader:
            pred += model(xb).argmax(1).tolist()
            true += yb.tolist()
    return balanced_accuracy_score(true, pred)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--seed", type=int, default=3)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    cfg = Config(epochs=args.epochs)
    data = ProgressionData(cfg.n_groups)
    print("patients:", len(data), "cut points:", np.round(data.edges, 1))
    scores = []
    for k, (tr, va) in enumerate(KFold(cfg.folds, shuffle=True, random_state=args.seed).split(data.x)):
        print("fold", k)
        scores.append(train_fold(cfg, data, tr, va))
        print(f"    balanced accuracy {scores[-1]:.3f}")
    print(f"mean {np.mean(scores):.3f} +- {np.std(scores):.3f}  (guess: {1 / cfg.n_groups:.3f})")


if __name__ == "__main__":
    main()
