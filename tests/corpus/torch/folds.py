"""5-fold cross validation of a small MLP on tabular data."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(11)
rng = np.random.default_rng(11)


def load_wines(n=1500, d=12, k=4):
    centres = rng.normal(0, 1.6, size=(k, 2, d))
    y = rng.integers(0, k, n)
    mode = rng.integers(0, 2, n)
    X = centres[y, mode] + rng.normal(0, 1.0, size=(n, d))
    X = (X - X.mean(0)) / X.std(0)
    return TensorDataset(torch.tensor(X, dtype=torch.float32), torch.tensor(y))


def build_mlp(d, k):
    return nn.Sequential(
        nn.Linear(d, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(48, 48), nn.ReLU(),
        nn.Linear(48, k),
    )


class Trainer:
    def __init__(self, d, k, lr=2e-3, wd=1e-4):
        self.d, self.k = d, k
        self.lr, self.wd = lr, wd
        self.loss_fn = nn.CrossEntropyLoss()
        self.net = build_mlp(d, k)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=lr, weight_decay=wd)

    def reset(self):
        """start again with fresh weights for the next fold"""
        self.net = build_mlp(self.d, self.k)
        self.best = 0.0

    def fit(self, loader, epochs):
        self.net.train()
        for ep in range(epochs):
            total, n = 0.0, 0
            for xb, yb in loader:
                self.opt.zero_grad()
                loss = self.loss_fn(self.net(xb), yb)
                loss.backward()
                self.opt.step()
                total += loss.item() * len(yb)
                n += len(yb)
            if (ep + 1) % 10 == 0:
                print(f"    epoch {ep + 1:3d} train loss {total / n:.4f}")

    @torch.no_grad()
    def score(self, loader):
        self.net.eval()
        hits = [(self.net(xb).argmax(1) == yb).float() for xb, yb in loader]
        return torch.cat(hits).mean().item()


def kfold(n, folds):
    idx = rng.permutation(n)
    parts = np.array_split(idx, folds)
    for i in range(folds):
        rest = np.concatenate([p for j, p in enumerate(parts) if j != i])
        yield rest.tolist(), parts[i].tolist()


def main():
    data = load_wines()
    trainer = Trainer(d=12, k=4)
    accs = []
    for fold, (tr, va) in enumerate(kfold(len(data), 5), 1):
        print("fold", fold)
        trainer.fit(DataLoader(Subset(data, tr), batch_size=32, shuffle=True), epochs=40)
        acc = trainer.score(DataLoader(Subset(data, va), batch_size=256))
        print(f"  val accuracy {acc:.3f}")
        accs.append(acc)
        trainer.reset()
    print("mean accuracy: %.3f +- %.3f" % (np.mean(accs), np.std(accs)))


if __name__ == "__main__":
    main()
