"""Disease progression from ten clinical measurements."""
import copy

import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EarlyStopper:
    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.wait = 0
        self.state = None

    def update(self, value, model):
        if value < self.best - 1e-4:
            self.best, self.wait = value, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.wait += 1
        return self.wait >= self.patience


class ProgressionRegressor:
    def __init__(self, n_in, hidden=32, lr=3e-3, epochs=120, patience=15):
        self.net = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr, weight_decay=1e-3)
        self.loss_fn = nn.MSELoss()
        self.epochs = epochs
        self.stopper = EarlyStopper(patience)

    def _loss(self, xb, yb):
        out = self.net(xb)
        return self.loss_fn(out, yb)

    def fit(self, train_ds, valid_ds):
        loader = DataLoader(train_ds, batch_size=32, shuffle=True)
        for epoch in range(self.epochs):
            self.net.train()
            running = 0.0
            for xb, yb in loader:
                self.opt.zero_grad()
                loss = self._loss(xb, yb)
                loss.backward()
                self.opt.step()
                running += loss.item() * len(xb)
            self.net.eval()
            with torch.no_grad():
                valid = self._loss(*valid_ds.tensors).item()
            if epoch % 10 == 0:
                print(f"epoch {epoch:3d} train {running / len(train_ds):.4f} valid {valid:.4f}")
            if self.stopper.update(valid, self.net):
                print("stopping at epoch", epoch)
                break
        self.net.load_state_dict(self.stopper.state)
        return self

    @torch.no_grad()
    def predict(self, x):
        self.net.eval()
        return self.net(x).numpy().ravel()


def to_dataset(x, y):
    x = torch.tensor(x, dtype=torch.float32)
    y = torch.tensor(y, dtype=torch.float32)
    return TensorDataset(x, y)


def main():
    torch.manual_seed(3)
    x, y = load_diabetes(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.2, random_state=0)
    x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=0.2, random_state=0)

    mu, sd = x_tr.mean(0), x_tr.std(0)
    y_mu, y_sd = y_tr.mean(), y_tr.std()
    scale = lambda a: (a - mu) / sd

    train_ds = to_dataset(scale(x_tr), (y_tr - y_mu) / y_sd)
    valid_ds = to_dataset(scale(x_va), (y_va - y_mu) / y_sd)

    model = ProgressionRegressor(x.shape[1]).fit(train_ds, valid_ds)
    pred = model.predict(torch.tensor(scale(x_te), dtype=torch.float32)) * y_sd + y_mu
    print(f"test RMSE {np.sqrt(np.mean((pred - y_te) ** 2)):.2f}")
    print(f"test R2   {r2_score(y_te, pred):.3f}")
    print(f"std of predictions {pred.std():.2f}, of targets {y_te.std():.2f}")


if __name__ == "__main__":
    main()
