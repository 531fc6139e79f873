"""Predict a building's daily heat demand from weather and building data."""
from dataclasses import dataclass

import numpy as np
import tensorflow as tf


@dataclass
class Config:
    rows: int = 4000
    hidden: int = 64
    batch: int = 64
    epochs: int = 12
    lr: float = 2e-3
    seed: int = 8


def synthesize(cfg):
    rng = np.random.default_rng(cfg.seed)
    outside = rng.normal(6, 8, cfg.rows)
    wind = rng.gamma(2, 2, cfg.rows)
    sun = rng.uniform(0, 8, cfg.rows)
    area = rng.uniform(60, 300, cfg.rows)
    u_value = rng.uniform(0.2, 1.6, cfg.rows)
    people = rng.integers(1, 7, cfg.rows)
    loss = np.maximum(20 - outside, 0) * area * u_value * (1 + 0.05 * wind)
    demand = loss / 120 - 1.2 * sun - 1.5 * people + rng.normal(0, 1.5, cfg.rows)
    x = np.stack([outside, wind, sun, area, u_value, people], 1)
    return x.astype("float32"), demand.astype("float32")


class DemandNet(tf.keras.Model):
    def __init__(self, hidden):
        super().__init__()
        self.a = tf.keras.layers.Dense(hidden, activation="relu")
        self.b = tf.keras.layers.Dense(hidden, activation="relu")
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.b(self.a(x)))


def main(cfg):
    tf.keras.utils.set_random_seed(cfg.seed)
    x, y = synthesize(cfg)
    n = int(0.8 * len(x))
    mx, sx = x[:n].mean(0), x[:n].std(0)
    my, sy = y[:n].mean(), y[:n].std()
    x, yz = (x - mx) / sx, (y - my) / sy

    train = tf.data.Dataset.from_tensor_slices((x[:n], yz[:n])).shuffle(n).batch(cfg.batch)
    model = DemandNet(cfg.hidden)
    opt = tf.keras.optimizers.Adam(cfg.lr)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            pred = tf.squeeze(model(xb, training=True), -1)
            loss = tf.reduce_mean(tf.square(yb - pred))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(cfg.epochs):
        losses = [float(step(xb, yb)) for xb, yb in train]
        print(f"epoch {epoch:2d}  train mse {np.mean(losses):.4f}")

    pred = model(x[n:]).numpy()[:, 0] * sy + my
    rmse = np.sqrt(np.mean((pred - y[n:]) ** 2))
    r2 = 1 - np.sum((pred - y[n:]) ** 2) / np.sum((y[n:] - y[n:].mean()) ** 2)
    print(f"test RMSE {rmse:.2f} kWh   R2 {r2:.3f}")


if __name__ == "__main__":
    main(Config())
