"""Rent bands: 10 %, 50 % and 90 % quantiles from random Fourier features.

The projection is drawn once and left alone; only the linear read-out is fitted, with
plain SGD at a rate of 1.0 that is cut by ten twice on the way.
"""
import math

import numpy as np
import keras
from keras import layers, ops

QUANTILES = (0.1, 0.5, 0.9)
EPOCHS = 24


def listings(n, rng):
    """Size, distance to centre, age, floor, and noise that grows with size."""
    size = rng.gamma(6, 11, n).clip(18, 220)
    dist = rng.exponential(4, n).clip(0, 20)
    age = rng.uniform(0, 110, n)
    floor = rng.integers(0, 9, n)
    level = 260 + 11.5 * size - 22 * dist * np.exp(-dist / 9) + 160 * np.cos(age / 110 * 2 * np.pi)
    level += 14 * floor * (dist < 3)
    spread = 40 + 1.6 * size + 90 * (age > 80)
    rent = level + spread * rng.gumbel(0, .7, n)
    return np.column_stack([size, dist, age, floor]).astype("float32"), rent.astype("float32")


class FourierFeatures(layers.Layer):
    def __init__(self, count, scale, **kw):
        super().__init__(trainable=False, **kw)
        self.count, self.scale = count, scale

    def build(self, shape):
        self.w = self.add_weight(name="w", shape=(shape[-1], self.count), trainable=False,
                                 initializer=keras.initializers.RandomNormal(stddev=self.scale))
        self.b = self.add_weight(name="b", shape=(self.count,), trainable=False,
                                 initializer=keras.initializers.RandomUniform(0.0, 2 * math.pi))

    def call(self, x):
        return math.sqrt(2.0 / self.count) * ops.cos(ops.matmul(x, self.w) + self.b)


class Pinball(keras.losses.Loss):
    def call(self, y_true, y_pred):
        q = ops.convert_to_tensor(np.array(QUANTILES, "float32"))
        gap = ops.reshape(y_true, (-1, 1)) - y_pred
        return ops.sum(ops.maximum(q * gap, (q - 1.0) * gap), axis=-1)


class Coverage(keras.metrics.Metric):
    """Share of targets between the outer quantiles; should come out near 0.8."""

    def __init__(self, name="coverage"):
        super().__init__(name=name)
        self.hit = self.add_weight(name="hit", initializer="zeros")
        self.n = self.add_weight(name="n", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        y = ops.reshape(y_true, (-1,))
        inside = ops.logical_and(y >= y_pred[:, 0], y <= y_pred[:, -1])
        self.hit.assign_add(ops.sum(ops.cast(inside, "float32")))
        self.n.assign_add(ops.cast(ops.size(y), "float32"))

    def result(self):
        return self.hit / ops.maximum(self.n, 1.0)


def schedule(epoch, lr):
    return lr * (0.1 if epoch in (16, 21) else 1.0)


def pinball_np(y, q_hat):
    q = np.array(QUANTILES)
    gap = y[:, None] - q_hat
    return np.maximum(q * gap, (q - 1) * gap).mean(0)


def main():
    keras.utils.set_random_seed(52)
    rng = np.random.default_rng(52)
    x, y = listings(7000, rng)
    x_te, y_te = x[5500:], y[5500:]
    x, y = x[:5500], y[:5500]
    fx = lambda a: (a - x.mean(0)) / x.std(0)
    m, s = y.mean(), y.std()

    rff = FourierFeatures(300, .45)
    inp = keras.Input((4,))
    feats = layers.Concatenate()([inp, rff(inp)])
    model = keras.Model(inp, layers.Dense(len(QUANTILES), kernel_initializer="zeros")(feats))
    model.compile(keras.optimizers.SGD(1.0), loss=Pinball(), metrics=[Coverage()])
    model.fit(fx(x), (y - m) / s, batch_size=256, epochs=EPOCHS, validation_split=.1, verbose=2,
              callbacks=[keras.callbacks.LearningRateScheduler(schedule)])

    pred = np.sort(model.predict(fx(x_te), verbose=0), axis=1) * s + m
    const = np.tile(np.quantile(y, QUANTILES), (len(y_te), 1))
    a, b = pinball_np(y_te, pred), pinball_np(y_te, const)
    for q, u, v in zip(QUANTILES, a, b):
        print(f"  q={q:.1f}  pinball {u:7.2f}   constant {v:7.2f}   below {np.mean(y_te < pred[:, QUANTILES.index(q)]):.3f}")
    inside = np.mean((y_te >= pred[:, 0]) & (y_te <= pred[:, 2]))
    print(f"test pinball {a.mean():.2f} against {b.mean():.2f}, coverage of the band {inside:.3f}")


if __name__ == "__main__":
    main()
