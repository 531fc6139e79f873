"""Predicts several lab values; most samples have only some of them measured."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(19)
ANALYTES = ["sodium", "ferritin", "glucose", "urea", "crp"]


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12)).astype("float32")
    mix = np.random.default_rng(0).normal(size=(12, len(ANALYTES))) / np.sqrt(12)
    full = np.tanh(1.5 * x @ mix) + 0.3 * (x[:, :5] ** 2 - 1)
    full = full + rng.normal(0, 0.15, full.shape)
    rate = np.array([0.2, 0.5, 0.4, 0.6, 0.7])
    seen = np.where(rng.random(full.shape) < rate, np.nan, full)
    return x, seen.astype("float32"), full.astype("float32")


def observed_mse(y_true, y_pred):
    known = ops.logical_not(ops.isnan(y_true))
    filled = ops.where(known, y_true, ops.zeros_like(y_true))
    weight = ops.cast(known, y_pred.dtype)
    total = ops.sum(weight * ops.square(filled - y_pred))
    return total / ops.maximum(ops.sum(weight), 1.0)


class PanelRegressor:
    def __init__(self, width=64, lr=2e-3, epochs=30):
        self.epochs = epochs
        self.net = keras.Sequential(
            [
                keras.Input((12,)),
                layers.Dense(width, activation="swish"),
                layers.Dense(width, activation="swish"),
                layers.Dense(len(ANALYTES)),
            ]
        )
        self.net.compile(optimizer=keras.optimizers.Adam(lr), loss=observed_mse)

    def fit(self, x, y):
        self.net.fit(x, y, batch_size=64, epochs=self.epochs, verbose=0)
        return self

    def predict(self, x):
        return self.net.predict(x, verbose=0)


x_tr, y_tr, _ = simulate(4000, 1)
x_te, _, y_te = simulate(1000, 2)
print("share of missing targets", round(float(np.isnan(y_tr).mean()), 3))

model = PanelRegressor().fit(x_tr, y_tr)
pred = model.predict(x_te)
base = np.nanmean(y_tr, axis=0)
for j, name in enumerate(ANALYTES):
    err = np.mean((pred[:, j] - y_te[:, j]) ** 2)
    ref = np.mean((base[j] - y_te[:, j]) ** 2)
    print(f"{name:9s} mse {err:.3f}  mean guess {ref:.3f}  r2 {1 - err / ref:.3f}")
print("overall test mse", round(float(np.mean((pred - y_te) ** 2)), 4))
