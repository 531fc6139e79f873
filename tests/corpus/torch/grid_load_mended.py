"""Next-hour load of a small grid; trained on two months, then run live on the last days."""
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FEATURES = ["load", "lag_24", "diff_1", "smooth", "hour_sin", "hour_cos", "weekend"]


def load_history(hours=24 * 75, seed=8):
    rng = np.random.default_rng(seed)
    idx = pd.date_range("2023-01-02", periods=hours, freq="h")
    base = 60 + 15 * np.sin(2 * np.pi * (idx.hour - 9) / 24) - 8 * (idx.day_of_week >= 5)
    drift = np.zeros(hours)
    for t in range(1, hours):
        drift[t] = 0.6 * drift[t - 1] + rng.normal(0, 3.0)
    return pd.Series(np.asarray(base) + drift, index=idx, name="load")


def build_features(load):
    f = pd.DataFrame({"load": load})
    f["lag_24"] = load.shift(23)
    f["diff_1"] = load.diff()
    f["smooth"] = load.rolling(5, min_periods=1).mean()
    f["hour_sin"] = np.sin(2 * np.pi * load.index.hour / 24)
    f["hour_cos"] = np.cos(2 * np.pi * load.index.hour / 24)
    f["weekend"] = (load.index.day_of_week >= 5).astype(float)
    return f


class Forecaster:
    def __init__(self, epochs=60, lr=2e-3):
        self.epochs, self.lr = epochs, lr
        self.net = nn.Sequential(nn.Linear(len(FEATURES), 48), nn.Tanh(), nn.Linear(48, 1))

    def fit(self, X, y):
        self.mx, self.sx, self.my, self.sy = X.mean(0), X.std(0), y.mean(), y.std()
        xs = torch.tensor((X - self.mx) / self.sx, dtype=torch.float32)
        ys = torch.tensor((y - self.my) / self.sy, dtype=torch.float32)[:, None]
        loader = DataLoader(TensorDataset(xs, ys), batch_size=64, shuffle=True)
        opt = torch.optim.Adam(self.net.parameters(), lr=self.lr)
        for epoch in range(self.epochs):
            total = 0.0
            for xb, yb in loader:
                opt.zero_grad()
                loss = nn.functional.smooth_l1_loss(self.net(xb), yb)
                loss.backward()
                opt.step()
                total += loss.item() * len(xb)
            if epoch % 15 == 0 or epoch == self.epochs - 1:
                print(f"epoch {epoch:2d} loss {total / len(xs):.5f}")

    def predict(self, X):
        with torch.no_grad():
            out = self.net(torch.tensor((X - self.mx) / self.sx, dtype=torch.float32))
        return out[:, 0].numpy() * self.sy + self.my


def main():
    torch.manual_seed(2)
    load = load_history()
    table = build_features(load)
    table["target"] = load.shift(-1)
    table = table.dropna()
    split = load.index[24 * 60]
    train, test = table[table.index < split], table[table.index >= split]

    model = Forecaster()
    model.fit(train[FEATURES].to_numpy(), train["target"].to_numpy())
    mae = np.abs(model.predict(test[FEATURES].to_numpy()) - test["target"]).mean()
    naive = np.abs(test["load"] - test["target"]).mean()

    live = []
    for now in test.index[:240]:
        row = build_features(load[:now].tail(72))[FEATURES].to_numpy()[-1:]
        live.append(abs(model.predict(row)[0] - load[now + pd.Timedelta(hours=1)]))
    print(f"test MAE {mae:.3f} | persistence MAE {naive:.3f} | live MAE {np.mean(live):.3f}")


if __name__ == "__main__":
    main()
