"""Compressive strength of concrete from its mix: regression with a hand-written loop."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras


@dataclass
class Config:
    rows: int = 3000
    batch: int = 64
    epochs: int = 25
    lr: float = 3e-3
    weight_decay: float = 1e-4
    seed: int = 5


COLUMNS = ["cement", "slag", "ash", "water", "plasticizer", "coarse", "fine", "age"]


def make_table(cfg):
    rng = np.random.default_rng(cfg.seed)
    low = np.array([100, 0, 0, 120, 0, 800, 590, 1])
    high = np.array([540, 360, 200, 245, 32, 1145, 990, 365])
    x = rng.uniform(low, high, size=(cfg.rows, len(COLUMNS)))
    binder = x[:, 0] + 0.7 * x[:, 1] + 0.4 * x[:, 2]
    strength = 14 * binder / x[:, 3] * (0.5 + 0.12 * np.log(x[:, 7] + 1)) + 0.25 * x[:, 4]
    strength += rng.normal(0, 1.5, cfg.rows)
    return x.astype("float32"), strength.astype("float32")


def build_net(n_in):
    return keras.Sequential([
        keras.Input((n_in,)),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(64, activation="gelu"),
        keras.layers.Dense(1),
    ])


def main(cfg=Config()):
    keras.utils.set_random_seed(cfg.seed)
    x, y = make_table(cfg)
    cut = int(0.8 * len(x))
    mu, sd = x[:cut].mean(0), x[:cut].std(0)
    x = (x - mu) / sd
    y_mu, y_sd = y[:cut].mean(), y[:cut].std()
    y_std = (y - y_mu) / y_sd

    train = tf.data.Dataset.from_tensor_slices((x[:cut], y_std[:cut])).shuffle(cut, seed=1).batch(cfg.batch)
    net = build_net(x.shape[1])
    opt = keras.optimizers.AdamW(cfg.lr, weight_decay=cfg.weight_decay)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            pred = net(xb, training=True)[:, 0]
            loss = tf.reduce_mean(tf.square(pred - yb))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
        return loss

    for epoch in range(cfg.epochs):
        losses = [float(step(xb, yb)) for xb, yb in train]
        if epoch % 4 == 0 or epoch == cfg.epochs - 1:
            print(f"epoch {epoch:2d}  train mse {np.mean(losses):.4f}")

    pred = net(x[cut:], training=False).numpy()[:, 0] * y_sd + y_mu
    err = pred - y[cut:]
    r2 = 1 - np.sum(err ** 2) / np.sum((y[cut:] - y[cut:].mean()) ** 2)
    print(f"test MAE {np.abs(err).mean():.2f} MPa   R2 {r2:.3f}")


if __name__ == "__main__":
    main()
