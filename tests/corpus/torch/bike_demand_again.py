import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import Dataset, DataLoader
from sklearn.metrics import mean_absolute_error, r2_score


def load_trips(n=6000, seed=8):
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2023-03-01")
    when = start + pd.to_timedelta(np.sort(rng.integers(0, 365 * 24 * 60, n)), unit="min")
    df = pd.DataFrame({"when": when})
    df["station_size"] = rng.integers(8, 40, n)
    df["temp_c"] = 12 + 10 * np.sin(2 * np.pi * (df.when.dt.day_of_year - 110) / 365) + rng.normal(0, 3, n)
    df["rain_mm"] = rng.exponential(0.6, n) * (rng.random(n) < 0.3)
    h = df.when.dt.hour + df.when.dt.minute / 60
    rush = np.exp(-((h - 8) / 1.8) ** 2) + 1.2 * np.exp(-((h - 17.5) / 2.2) ** 2)
    weekend = (df.when.dt.day_of_week >= 5).astype(float)
    rides = df.station_size * (0.3 + rush * (1 - 0.6 * weekend)) * (1 + 0.03 * (df.temp_c - 12)) / (1 + 0.5 * df.rain_mm)
    df["rides"] = np.maximum(rides + rng.normal(0, 2.0, n), 0).round()
    return df


def featurize(df):
    out = pd.DataFrame()
    hour = df.when.dt.hour + df.when.dt.minute / 60
    out["hour_sin"] = np.sin(2 * np.pi * hour / 24)
    out["hour_cos"] = np.cos(2 * np.pi * hour / 24)
    out["hour_sin2"] = np.sin(4 * np.pi * hour / 24)
    out["hour_cos2"] = np.cos(4 * np.pi * hour / 24)
    out["weekend"] = (df.when.dt.day_of_week >= 5).astype(float)
    out["size"] = df.station_size / 40
    out["temp"] = df.temp_c / 30
    out["rain"] = df.rain_mm
    out["ts"] = (df.when - pd.Timestamp(0)) / pd.Timedelta(seconds=1)
    return out


class Rides(Dataset):
    def __init__(self, feats, rides):
        self.x = torch.tensor(feats.to_numpy(dtype=np.float32))
        self.y = torch.tensor(rides.to_numpy(dtype=np.float32)).unsqueeze(1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def train(model, loader, epochs, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs)
    for ep in range(epochs):
        model.train()
        tot = 0.0
        for x, y in loader:
            loss = nn.functional.smooth_l1_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item() * len(x)
        sched.step()
        if ep % 5 == 4:
            print(f"epoch {ep + 1} loss {tot / len(loader.dataset):.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    df = load_trips()
    feats = featurize(df)
    mask = np.random.default_rng(1).random(len(df)) < 0.8
    train_ds = Rides(feats[mask], df.rides[mask])
    test_ds = Rides(feats[~mask], df.rides[~mask])
    net = nn.Sequential(nn.Linear(feats.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    train(net, DataLoader(train_ds, batch_size=64, shuffle=True), epochs=25, lr=2e-3)
    net.eval()
    with torch.no_grad():
        pred = net(test_ds.x).numpy().ravel()
    y = test_ds.y.numpy().ravel()
    print("MAE", round(float(mean_absolute_error(y, pred)), 3), "R2", round(float(r2_score(y, pred)), 3))
    print("MAE of the training median", round(float(np.abs(y - np.median(train_ds.y)).mean()), 3))
