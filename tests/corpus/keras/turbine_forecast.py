"""Forecast the drift of turbine bearing temperature from sensor windows."""
from dataclasses import dataclass

import keras
import numpy as np
from keras import layers


@dataclass
class Config:
    length: int = 4500
    window: int = 32
    horizon: int = 24
    train_share: float = 0.7
    epochs: int = 32
    batch: int = 96
    lr: float = 1e-3
    l2: float = 1e-4
    dropout: float = 0.2
    seed: int = 17


def ar(rng, n, phi, sigma):
    out = np.zeros(n)
    for t in range(1, n):
        out[t] = phi * out[t - 1] + rng.normal(0, sigma)
    return out


def record(cfg):
    """Hourly log: load, wind, ambient temperature, oil pressure, bearing temperature."""
    rng = np.random.default_rng(cfg.seed)
    n = cfg.length
    wind = ar(rng, n, 0.98, 0.1)
    ambient = ar(rng, n, 0.97, 0.12) + 0.8 * np.sin(np.arange(n) * 2 * np.pi / 24)
    pressure = ar(rng, n, 0.97, 0.2)
    load = np.tanh(wind) + 0.1 * rng.normal(size=n)
    bearing = np.zeros(n)
    for t in range(1, n):
        pull = 0.9 * load[t] + 0.5 * ambient[t] - bearing[t - 1]
        bearing[t] = bearing[t - 1] + 0.05 * pull + rng.normal(0, 0.03)
    return np.stack([load, wind, ambient, pressure, bearing], 1)


def windows(log, cfg):
    xs, ys = [], []
    for start in range(len(log) - cfg.window - cfg.horizon):
        end = start + cfg.window
        xs.append(log[start:end])
        ys.append(log[end:end + cfg.horizon, -1].mean() - log[end - 1, -1])
    return np.asarray(xs, "float32"), np.asarray(ys, "float32")


def split(n, cfg):
    order = np.random.default_rng(cfg.seed).permutation(n)
    cut = int(cfg.train_share * n)
    return order[:cut], order[cut + cfg.window + cfg.horizon:]


def make_model(cfg, features):
    inp = keras.Input((cfg.window, features))
    reg = keras.regularizers.L2(cfg.l2)
    x = layers.Conv1D(24, 8, strides=4, activation="relu", kernel_regularizer=reg)(inp)
    x = layers.Flatten()(x)
    x = layers.Dropout(cfg.dropout)(x)
    x = layers.Dense(256, activation="relu", kernel_regularizer=reg)(x)
    x = layers.Dropout(cfg.dropout)(x)
    model = keras.Model(inp, layers.Dense(1)(x))
    model.compile(keras.optimizers.Adam(cfg.lr), loss="mse")
    return model


def r2(y, pred):
    return 1 - np.mean((y - pred) ** 2) / np.var(y)


def main(cfg=Config()):
    keras.utils.set_random_seed(cfg.seed)
    x, y = windows(record(cfg), cfg)
    train, test = split(len(x), cfg)
    mu, sd = x[train].mean((0, 1)), x[train].std((0, 1))
    x = (x - mu) / sd
    print("windows:", len(train), "train,", len(test), "test")

    model = make_model(cfg, x.shape[-1])
    hist = model.fit(x[train], y[train], epochs=cfg.epochs, batch_size=cfg.batch, verbose=0)
    print("train loss by fifth epoch:", [round(v, 4) for v in hist.history["loss"][::5]])

    pred = model.predict(x[test], verbose=0)[:, 0]
    persist = r2(y[test], np.zeros(len(test)))
    print(f"test R2 {r2(y[test], pred):.3f}   persistence {persist:.3f}")


if __name__ == "__main__":
    main()
