"""Monthly rent from flat features: plain tf loop, no fit()."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras


@dataclass
class Cfg:
    n: int = 6000
    hidden: int = 64
    lr: float = 3e-3
    epochs: int = 25
    batch: int = 128
    seed: int = 8


def synth(cfg):
    r = np.random.default_rng(cfg.seed)
    area = r.gamma(8, 9, cfg.n)
    rooms = np.clip(np.round(area / 25 + r.normal(0, 0.6, cfg.n)), 1, 8)
    floor = r.integers(0, 9, cfg.n)
    dist = r.exponential(4, cfg.n)
    year = r.integers(1900, 2023, cfg.n)
    lift = (r.random(cfg.n) < 0.5).astype(float)
    rent = 200 + 11 * area * np.exp(-dist / 12) + 40 * rooms - 18 * floor * (1 - lift) + 1.2 * (year - 1950)
    rent = rent * np.exp(r.normal(0, 0.06, cfg.n))
    X = np.stack([area, rooms, floor, dist, year, lift], 1)
    return X.astype("float32"), rent.astype("float32")


class RentModel:
    def __init__(self, cfg):
        self.net = keras.Sequential([
            keras.layers.Dense(cfg.hidden, activation="relu"),
            keras.layers.Dense(cfg.hidden, activation="relu"),
            keras.layers.Dense(1),
        ])
        self.opt = keras.optimizers.Adam(cfg.lr)

    def build(self, dim):
        self.net.build((None, dim))
        self.opt.build(self.net.trainable_variables)

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            pred = tf.squeeze(self.net(x, training=True), -1)
            loss = tf.reduce_mean(tf.square(y - pred))
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def predict(self, x):
        return self.net(x, training=False).numpy()[:, 0]


def main():
    cfg = Cfg()
    keras.utils.set_random_seed(cfg.seed)
    X, y = synth(cfg)
    cut = int(0.8 * cfg.n)
    mu, sd = X[:cut].mean(0), X[:cut].std(0)
    X = (X - mu) / sd
    ym, ys = y[:cut].mean(), y[:cut].std()
    t = (y - ym) / ys
    ds = tf.data.Dataset.from_tensor_slices((X[:cut], t[:cut])).shuffle(cut, seed=1).batch(cfg.batch)

    model = RentModel(cfg)
    model.build(X.shape[1])
    for epoch in range(cfg.epochs):
        running = keras.metrics.Mean()
        for xb, yb in ds:
            running.update_state(model.step(xb, yb))
        if epoch % 4 == 0 or epoch == cfg.epochs - 1:
            p = model.predict(X[cut:]) * ys + ym
            mae = np.abs(p - y[cut:]).mean()
            print(f"epoch {epoch:2d} loss {float(running.result()):.4f} val MAE {mae:.1f} EUR")

    p = model.predict(X[cut:]) * ys + ym
    r2 = 1 - ((p - y[cut:]) ** 2).sum() / ((y[cut:] - y[cut:].mean()) ** 2).sum()
    print(f"R2 on held-out flats: {r2:.3f}")


if __name__ == "__main__":
    main()
