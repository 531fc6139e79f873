"""Predict the maintenance state of pumps from a week of sensor readings."""
import numpy as np
import pandas as pd
import torch
from torch import nn

STATES = ["ok", "worn", "critical"]


def read_tables(n_pumps=900, n_readings=40, seed=3):
    rng = np.random.default_rng(seed)
    state = rng.choice(3, size=n_pumps, p=[0.45, 0.3, 0.25])
    ids = [f"P-{k}" for k in rng.permutation(n_pumps) + 1]
    pumps = pd.DataFrame({"pump_id": ids, "site": rng.integers(0, 5, n_pumps), "state": [STATES[s] for s in state]})
    rows = []
    for pid, s in zip(ids, state):
        temp = rng.normal(55 + 4 * s, 6, n_readings)
        vib = np.abs(rng.normal(0, 1 + 0.7 * s, n_readings))
        press = rng.normal(8 - 0.4 * s, 0.8, n_readings)
        for h in range(n_readings):
            rows.append((pid, h, temp[h], vib[h], press[h]))
    readings = pd.DataFrame(rows, columns=["pump_id", "hour", "temp", "vib", "press"])
    return pumps, readings


def make_features(readings):
    stats = readings.groupby("pump_id")[["temp", "vib", "press"]].agg(["mean", "std", "max"])
    stats.columns = ["_".join(c) for c in stats.columns]
    return stats


class PumpClassifier:
    def __init__(self, hidden=32, lr=3e-3, epochs=60, batch_size=64):
        self.hidden, self.lr, self.epochs, self.batch_size = hidden, lr, epochs, batch_size

    def fit(self, X, y):
        self.mu, self.sd = X.mean(0), X.std(0)
        X = torch.tensor((X - self.mu) / self.sd, dtype=torch.float32)
        y = torch.tensor(y)
        self.net = nn.Sequential(
            nn.Linear(X.shape[1], self.hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(self.hidden, len(STATES))
        )
        opt = torch.optim.AdamW(self.net.parameters(), lr=self.lr, weight_decay=1e-3)
        self.history = []
        for epoch in range(self.epochs):
            self.net.train()
            total = 0.0
            for idx in torch.randperm(len(X)).split(self.batch_size):
                loss = nn.functional.cross_entropy(self.net(X[idx]), y[idx])
                opt.zero_grad()
                loss.backward()
                opt.step()
                total += loss.item() * len(idx)
            self.history.append(total / len(X))
        return self

    @torch.no_grad()
    def predict(self, X):
        self.net.eval()
        X = torch.tensor((X - self.mu) / self.sd, dtype=torch.float32)
        return self.net(X).argmax(1).numpy()


def main():
    torch.manual_seed(0)
    pumps, readings = read_tables()
    stats = make_features(readings)
    codes = pumps["state"].map({s: i for i, s in enumerate(STATES)})
    X = stats.to_numpy()
    y = codes.to_numpy()
    print("features", X.shape, "labels", y.shape, np.bincount(y))

    order = np.random.default_rng(1).permutation(len(X))
    train, test = order[:700], order[700:]
    model = PumpClassifier().fit(X[train], y[train])
    for e in range(0, model.epochs, 10):
        print(f"epoch {e:2d} loss {model.history[e]:.4f}")
    acc_train = (model.predict(X[train]) == y[train]).mean()
    acc_test = (model.predict(X[test]) == y[test]).mean()
    base = np.bincount(y[test]).max() / len(test)
    print(f"final loss {model.history[-1]:.4f} train acc {acc_train:.3f} test acc {acc_test:.3f} majority {base:.3f}")


if __name__ == "__main__":
    main()
