"""No-show prediction with a cap on the gap between two clinics' mean scores (Lagrange multiplier)."""
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf


@dataclass
class Opts:
    n: int = 16000
    epochs: int = 30
    batch: int = 400
    lr: float = 3e-3
    lr_multiplier: float = 0.1
    gap: float = 0.04


def patients(o, seed=23):
    rng = np.random.default_rng(seed)
    site = rng.integers(0, 2, o.n)
    x = rng.normal(size=(o.n, 10))
    x[:, 0] += 0.8 * site
    logit = 1.6 * x[:, 0] - 1.5 * x[:, 1] + 1.4 * np.tanh(2 * x[:, 2]) * x[:, 3] - 1.0
    y = rng.random(o.n) < 1 / (1 + np.exp(-2 * logit))
    return x.astype("float32"), site.astype("float32"), y.astype("float32")


class CappedTrainer:
    def __init__(self, o):
        self.o = o
        self.net = keras.Sequential(
            [
                keras.Input((10,)),
                keras.layers.Dense(64, activation="relu"),
                keras.layers.Dense(32, activation="relu"),
                keras.layers.Dense(1),
            ]
        )
        self.raw = tf.Variable(0.0)
        self.opt_net = keras.optimizers.Adam(o.lr)
        self.opt_raw = keras.optimizers.SGD(o.lr_multiplier)

    @tf.function
    def step(self, x, site, y):
        with tf.GradientTape(persistent=True) as tape:
            logit = self.net(x, training=True)[:, 0]
            bce = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(y, logit))
            p = tf.sigmoid(logit)
            m1 = tf.reduce_sum(p * site) / tf.reduce_sum(site)
            m0 = tf.reduce_sum(p * (1 - site)) / tf.reduce_sum(1 - site)
            excess = m1 - m0 - self.o.gap
            lam = tf.nn.softplus(self.raw)
            loss = bce + lam * excess
            neg = -loss
        weights = self.net.trainable_variables
        self.opt_net.apply_gradients(zip(tape.gradient(loss, weights), weights))
        self.opt_raw.apply_gradients([(tape.gradient(neg, self.raw), self.raw)])
        return bce, excess

    def report(self, x, site, y):
        p = tf.sigmoid(self.net(x)[:, 0]).numpy()
        gap = p[site == 1].mean() - p[site == 0].mean()
        return ((p > 0.5) == y).mean(), gap


def main():
    o = Opts()
    keras.utils.set_random_seed(23)
    x, s, y = patients(o)
    cut = int(o.n * 0.8)
    t = CappedTrainer(o)
    print("raw gap in outcomes", y[s == 1].mean() - y[s == 0].mean())
    ds = tf.data.Dataset.from_tensor_slices((x[:cut], s[:cut], y[:cut])).shuffle(cut).batch(o.batch)
    for e in range(o.epochs):
        parts = np.array([[float(v) for v in t.step(*b)] for b in ds])
        if e % 6 == 5:
            acc, gap = t.report(x[cut:], s[cut:], y[cut:])
            print(f"epoch {e + 1} bce {parts[:, 0].mean():.3f} multiplier {float(tf.nn.softplus(t.raw)):.2f} "
                  f"val acc {acc:.3f} gap {gap:+.3f}")


if __name__ == "__main__":
    main()
