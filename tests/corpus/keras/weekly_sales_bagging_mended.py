from dataclasses import dataclass

import numpy as np
import pandas as pd
import keras
from keras import layers

keras.utils.set_random_seed(5)


@dataclass
class Settings:
    members: int = 4
    epochs: int = 15
    batch: int = 64
    lr: float = 2e-3
    cut: str = "2023-07-01"


def simulate_shop(seed=5, shops=25):
    rng = np.random.default_rng(seed)
    frames = []
    for shop in range(shops):
        dates = pd.date_range("2021-01-04", "2023-12-25", freq="W-MON")
        size = rng.uniform(0.5, 2.0)
        week = dates.isocalendar().week.to_numpy("float32")
        promo = rng.integers(0, 2, len(dates))
        footfall = size * 100 * (1 + 0.3 * np.sin(2 * np.pi * week / 52)) + rng.normal(0, 8, len(dates))
        temp = 12 + 10 * np.sin(2 * np.pi * (week - 15) / 52) + rng.normal(0, 3, len(dates))
        revenue = 2.5 * footfall * (1 + 0.35 * promo) + 3 * temp + rng.normal(0, 15, len(dates))
        frames.append(pd.DataFrame({"shop": shop, "date": dates, "week": week, "promo": promo,
                                    "footfall": footfall, "temp": temp, "revenue": revenue}))
    return pd.concat(frames, ignore_index=True)


def prepare(raw, cut):
    by_date = raw.sort_values("date", kind="stable").reset_index(drop=True)
    angle = 2 * np.pi * by_date["week"] / 52
    feats = pd.DataFrame({
        "promo": by_date["promo"],
        "footfall": by_date["footfall"],
        "temp": by_date["temp"],
        "sin": np.sin(angle),
        "cos": np.cos(angle),
    })
    target = by_date["revenue"]
    past = (by_date["date"] < cut).to_numpy()
    x = feats.to_numpy("float32")
    y = target.to_numpy("float32")
    mu, sd = x[past].mean(0), x[past].std(0)
    x = (x - mu) / sd
    y_mu, y_sd = y[past].mean(), y[past].std()
    return (x[past], (y[past] - y_mu) / y_sd), (x[~past], y[~past]), (y_mu, y_sd)


def build_member(n_in, lr):
    net = keras.Sequential([
        layers.Input((n_in,)),
        layers.Dense(32, activation="relu"),
        layers.Dense(16, activation="relu"),
        layers.Dense(1),
    ])
    net.compile(optimizer=keras.optimizers.Adam(lr), loss="mse")
    return net


class Bagging:
    def __init__(self, cfg):
        self.cfg = cfg
        self.members = []

    def fit(self, x, y):
        rng = np.random.default_rng(0)
        for k in range(self.cfg.members):
            pick = rng.integers(0, len(x), len(x))
            net = build_member(x.shape[1], self.cfg.lr)
            h = net.fit(x[pick], y[pick], epochs=self.cfg.epochs, batch_size=self.cfg.batch, verbose=0)
            print(f"member {k} loss {h.history['loss'][0]:.3f} -> {h.history['loss'][-1]:.3f}")
            self.members.append(net)
        return self

    def predict(self, x):
        return np.mean([m.predict(x, verbose=0)[:, 0] for m in self.members], axis=0)


if __name__ == "__main__":
    cfg = Settings()
    train, test, (y_mu, y_sd) = prepare(simulate_shop(), cfg.cut)
    model = Bagging(cfg).fit(*train)
    forecast = model.predict(test[0]) * y_sd + y_mu
    mae = np.abs(forecast - test[1]).mean()
    naive = np.abs(y_mu - test[1]).mean()
    print(f"test MAE {mae:.1f}  naive MAE {naive:.1f}")
    print(f"test R2 {1 - ((forecast - test[1]) ** 2).mean() / test[1].var():.3f}")
