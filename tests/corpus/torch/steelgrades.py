from dataclasses import dataclass

import torch
from sklearn.datasets import make_blobs
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    depth: int = 8
    width: int = 48
    lr: float = 1e-3
    epochs: int = 12
    batch_size: int = 40
    seed: int = 21


class DeepClassifier(nn.Module):
    def __init__(self, n_in, n_out, cfg):
        super().__init__()
        layers = [nn.Linear(n_in, cfg.width), nn.Sigmoid()]
        for _ in range(cfg.depth - 1):
            layers += [nn.Linear(cfg.width, cfg.width), nn.Sigmoid()]
        layers.append(nn.Linear(cfg.width, n_out))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


def main(cfg):
    torch.manual_seed(cfg.seed)
    X, y = make_blobs(n_samples=2000, centers=6, n_features=10, cluster_std=3.0, random_state=cfg.seed)
    X = (X - X.mean(0)) / X.std(0)
    X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
    train = DataLoader(TensorDataset(X[:1600], y[:1600]), batch_size=cfg.batch_size, shuffle=True)
    X_val, y_val = X[1600:], y[1600:]

    model = DeepClassifier(10, 6, cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        total = 0.0
        for xb, yb in train:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(yb)
        model.eval()
        with torch.no_grad():
            acc = (model(X_val).argmax(1) == y_val).float().mean()
        print(f"epoch {epoch}: loss={total / 1600:.4f} val_acc={acc:.3f}")


if __name__ == "__main__":
    main(Config())
