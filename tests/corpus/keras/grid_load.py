"""Day-ahead electricity load: predict the load 24 h after the end of a 72 h window."""
from dataclasses import dataclass

import numpy as np
import keras
from keras import layers


@dataclass
class Cfg:
    hours: int = 24 * 7 * 40
    window: int = 72
    horizon: int = 24
    batch: int = 64
    epochs: int = 6
    lr: float = 3e-3
    seed: int = 11


def synth_load(cfg):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(cfg.hours)
    hod, dow = t % 24, (t // 24) % 7
    temp = np.zeros(cfg.hours)
    for i in range(1, cfg.hours):
        temp[i] = 0.99 * temp[i - 1] + rng.normal(0, 0.25)
    temp = temp + 3 * np.sin(2 * np.pi * (hod - 9) / 24)
    load = 520 + 90 * np.sin(2 * np.pi * (hod - 8) / 24) + 45 * np.sin(4 * np.pi * (hod - 7) / 24)
    load -= 80 * (dow >= 5) + 9.0 * temp
    load += rng.normal(0, 8, cfg.hours)
    feats = np.stack([load, temp, np.sin(2 * np.pi * hod / 24), np.cos(2 * np.pi * hod / 24),
                      (dow >= 5).astype(float), np.roll(dow >= 5, -cfg.horizon).astype(float)], 1)
    return load.astype("float32"), feats.astype("float32")


def windows(feats, target, cfg, lo, hi):
    xs, ys = [], []
    for end in range(lo + cfg.window, hi - cfg.horizon):
        xs.append(feats[end - cfg.window:end])
        ys.append(target[end - 1 + cfg.horizon])
    return np.stack(xs), np.asarray(ys)[:, None]


class LoadForecaster:
    def __init__(self, cfg, n_feats):
        self.cfg = cfg
        inp = keras.Input((cfg.window, n_feats))
        h = layers.Conv1D(24, 6, strides=3, activation="relu")(inp)
        h = layers.Conv1D(24, 4, strides=2, activation="relu")(h)
        h = layers.Flatten()(h)
        h = layers.Dense(48, activation="relu")(h)
        h = layers.Dropout(0.05)(h)
        out = layers.Dense(1, activation="relu")(h)
        self.net = keras.Model(inp, out)
        self.net.compile(keras.optimizers.Adam(cfg.lr), loss=keras.losses.Huber(), metrics=["mae"])

    def fit(self, train, val):
        stop = keras.callbacks.EarlyStopping("val_loss", patience=4, restore_best_weights=True)
        return self.net.fit(*train, validation_data=val, epochs=self.cfg.epochs,
                            batch_size=self.cfg.batch, callbacks=[stop], verbose=2)

    def predict(self, x):
        return self.net.predict(x, verbose=0)


if __name__ == "__main__":
    cfg = Cfg()
    keras.utils.set_random_seed(cfg.seed)
    load, feats = synth_load(cfg)
    cut1, cut2 = int(0.7 * cfg.hours), int(0.85 * cfg.hours)

    mu, sd = feats[:cut1].mean(0), feats[:cut1].std(0)
    z = (feats - mu) / sd
    y = (load - mu[0]) / sd[0]

    train = windows(z, y, cfg, 0, cut1)
    val = windows(z, y, cfg, cut1, cut2)
    test = windows(z, y, cfg, cut2, cfg.hours)

    model = LoadForecaster(cfg, z.shape[1])
    model.fit(train, val)

    pred = model.predict(test[0]) * sd[0]
    true = test[1] * sd[0]
    same_hour = test[0][:, -1:, 0] * sd[0]
    print(f"test MAE {np.abs(pred - true).mean():.2f} MW")
    print(f"day-before MAE {np.abs(same_hour - true).mean():.2f} MW, mean MAE {np.abs(true).mean():.2f} MW")
