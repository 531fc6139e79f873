from dataclasses import dataclass

import keras
import numpy as np
from keras import layers


@dataclass
class Config:
    rows: int = 4000
    batch_size: int = 64
    epochs: int = 10
    hidden: int = 48
    lr: float = 2e-3
    seed: int = 14


def portfolio(cfg):
    rng = np.random.default_rng(cfg.seed)
    age = rng.uniform(18, 80, cfg.rows)
    mileage = rng.lognormal(9.0, 0.6, cfg.rows)
    value = rng.lognormal(9.5, 0.5, cfg.rows)
    earlier = np.where(rng.random(cfg.rows) < 0.012, 0.0, rng.gamma(2.0, 400.0, cfg.rows))
    region = rng.integers(0, 4, cfg.rows)
    score = (
        0.5 * np.log(value) + 0.35 * np.log(mileage) + 0.2 * np.log1p(earlier)
        + 0.0008 * (age - 45) ** 2 + np.array([0.0, 0.3, -0.2, 0.5])[region]
    )
    cost = score + 0.25 * rng.normal(size=cfg.rows)
    return age, mileage, value, earlier, region, cost


def to_features(age, mileage, value, earlier, region):
    money = np.stack([mileage, value, earlier], axis=1)
    logs = np.log(money)
    years = ((age - 45) / 20)[:, None]
    onehot = np.eye(4)[region]
    logs = logs - np.array([9.0, 9.5, 6.5])
    return np.concatenate([years, years ** 2, logs, onehot], axis=1).astype("float32")


class Batches(keras.utils.PyDataset):
    def __init__(self, x, y, batch_size, rng, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.batch_size, self.rng = x, y, batch_size, rng
        self.order = rng.permutation(len(x))

    def __len__(self):
        return int(np.ceil(len(self.x) / self.batch_size))

    def __getitem__(self, i):
        idx = self.order[i * self.batch_size:(i + 1) * self.batch_size]
        return self.x[idx], self.y[idx]

    def on_epoch_end(self):
        self.order = self.rng.permutation(len(self.x))


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    *columns, cost = portfolio(cfg)
    x = to_features(*columns)
    cut = int(0.8 * cfg.rows)
    mean, std = cost[:cut].mean(), cost[:cut].std()
    y = ((cost - mean) / std).astype("float32")[:, None]

    net = keras.Sequential([
        keras.Input((x.shape[1],)),
        layers.Dense(cfg.hidden, activation="relu"),
        layers.Dense(cfg.hidden, activation="relu"),
        layers.Dense(1),
    ])
    net.compile(optimizer=keras.optimizers.Adam(cfg.lr), loss="mse", metrics=["mae"])
    train = Batches(x[:cut], y[:cut], cfg.batch_size, np.random.default_rng(1))
    net.fit(train, epochs=cfg.epochs, verbose=2)

    pred = net.predict(x[cut:], verbose=0)
    mse = float(np.mean((pred - y[cut:]) ** 2))
    base = float(np.mean(y[cut:] ** 2))
    print(f"test mse {mse:.4f}, of the mean {base:.4f}, r2 {1 - mse / base:.4f}")


if __name__ == "__main__":
    main()
