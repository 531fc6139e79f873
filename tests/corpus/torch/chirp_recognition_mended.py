"""Recognise six kinds of bird-like chirps from raw 1-second clips (1 kHz) with a 1-D CNN."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import accuracy_score, classification_report
from torch.utils.data import DataLoader, TensorDataset

KINDS = ["rising", "falling", "trill", "double", "steady", "arch"]
RATE = 1000


def chirp(kind, rng):
    t = np.arange(RATE) / RATE
    f0 = rng.uniform(80, 140)
    freq = {0: f0 + 120 * t, 1: f0 + 120 * (1 - t), 2: f0 + 60 + 40 * np.sign(np.sin(2 * np.pi * 8 * t)),
            3: f0 + 90 * (t > 0.5), 4: f0 + 60 + 0 * t, 5: f0 + 120 * np.sin(np.pi * t)}[kind]
    wave = np.sin(2 * np.pi * np.cumsum(freq) / RATE + rng.uniform(0, 6))
    gain = rng.uniform(0.5, 1.0)
    return gain * wave + rng.normal(0, 0.3, RATE)


def collect(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(KINDS), n)
    X = np.stack([chirp(k, rng) for k in y]).astype("float32")
    return X[:, None, :], y


class ChirpNet(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(1, 24, 32, stride=8), nn.BatchNorm1d(24), nn.ReLU())
        self.back = nn.Sequential(
            nn.Conv1d(24, 32, 7, stride=2), nn.BatchNorm1d(32), nn.ReLU(),
            nn.Conv1d(32, 32, 7, stride=2), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveAvgPool1d(6))
        self.fc = nn.Linear(32 * 6, n_out)

    def forward(self, x):
        return self.fc(self.back(self.front(x)).flatten(1))


class Runner:
    def __init__(self, model, lr=2e-3, batch_size=32):
        self.model = model
        self.batch_size = batch_size
        self.opt = torch.optim.AdamW(model.parameters(), lr=lr)
        self.loss = nn.CrossEntropyLoss(label_smoothing=0.05)

    def loader(self, X, y, shuffle=True):
        ds = TensorDataset(torch.from_numpy(X), torch.from_numpy(y))
        return DataLoader(ds, batch_size=self.batch_size, shuffle=shuffle)

    def fit(self, X, y, epochs):
        loader = self.loader(X, y)
        sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, 4e-3, epochs * len(loader))
        for ep in range(epochs):
            self.model.train()
            total = 0
            for xb, yb in loader:
                self.opt.zero_grad()
                loss = self.loss(self.model(xb), yb)
                loss.backward()
                self.opt.step()
                sched.step()
                total += loss.item()
            print(f"epoch {ep}: train loss {total / len(loader):.3f}")

    @torch.no_grad()
    def predict(self, X, y):
        self.model.eval()
        preds = [self.model(xb).argmax(1) for xb, _ in self.loader(X, y, shuffle=False)]
        return torch.cat(preds).numpy()


def main():
    torch.manual_seed(8)
    X_train, y_train = collect(2000, 1)
    X_test, y_test = collect(500, 2)
    runner = Runner(ChirpNet(len(KINDS)))
    runner.fit(X_train, y_train, epochs=8)
    y_pred = runner.predict(X_test, y_test)
    print(classification_report(y_test, y_pred, target_names=KINDS, digits=3))
    chance = np.bincount(y_test).max() / len(y_test)
    print(f"test accuracy {accuracy_score(y_test, y_pred):.3f} (most frequent kind {chance:.3f})")


if __name__ == "__main__":
    main()
