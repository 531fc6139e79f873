import argparse
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.metrics import f1_score

STATES = ["ok", "cavitation", "bearing", "leak"]


def make_readings(n, seed):
    rng = np.random.default_rng(seed)
    state = rng.integers(0, len(STATES), n)
    flow = 40 - 6 * (state == 1) - 9 * (state == 3) + rng.normal(0, 3, n)
    vib = 1.2 + 0.8 * (state == 1) + 1.9 * (state == 2) + rng.gamma(2, 0.15, n)
    temp = 55 + 12 * (state == 2) + rng.normal(0, 4, n)
    pressure = 6 - 1.5 * (state == 3) - 0.6 * (state == 1) + rng.normal(0, 0.4, n)
    current = 11 + 0.05 * flow + 0.6 * vib + rng.normal(0, 0.3, n)
    extra = rng.normal(0, 1, (n, 3))
    X = np.column_stack([flow, vib, temp, pressure, current, extra])
    return X.astype(np.float32), state


class Clf(nn.Module):
    def __init__(self, n_in, n_out, hidden):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ReLU(), nn.Dropout(0.1),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, n_out),
        )

    def forward(self, x):
        return self.body(x)


class PumpClassifier:
    def __init__(self, hidden=64, lr=1e-3, epochs=20, batch_size=64):
        self.hidden, self.lr = hidden, lr
        self.epochs, self.batch_size = epochs, batch_size
        self.scaler = StandardScaler()

    def _step(self, xb, yb):
        logits = self.net(xb)
        loss = self.loss_fn(logits, yb)
        loss.backward()
        self.opt.zero_grad()
        self.opt.step()
        return loss.item() * len(xb)

    def fit(self, X, y):
        X = torch.tensor(self.scaler.fit_transform(X))
        y = torch.tensor(y)
        self.net = Clf(X.shape[1], len(STATES), self.hidden)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)
        self.loss_fn = nn.CrossEntropyLoss()
        loader = DataLoader(TensorDataset(X, y), self.batch_size, shuffle=True)
        for epoch in range(self.epochs):
            self.net.train()
            total = sum(self._step(xb, yb) for xb, yb in loader)
            if (epoch + 1) % 5 == 0:
                print(f"epoch {epoch + 1:3d}  loss {total / len(X):.4f}")
        return self

    @torch.no_grad()
    def predict(self, X):
        self.net.eval()
        X = torch.tensor(self.scaler.transform(X))
        return self.net(X).argmax(1).numpy()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", type=int, default=6000)
    ap.add_argument("--epochs", type=int, default=20)
    ap.add_argument("--seed", type=int, default=4)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    X, y = make_readings(args.n, args.seed)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    clf = PumpClassifier(epochs=args.epochs).fit(X_tr, y_tr)
    pred = clf.predict(X_te)
    print("accuracy", round(float((pred == y_te).mean()), 3),
          "macro f1", round(f1_score(y_te, pred, average="macro"), 3))


if __name__ == "__main__":
    main()
