import argparse
import numpy as np
import tensorflow as tf
from tensorflow import keras


def mackey_glass(n, tau=17, seed=0, burn=300):
    rng = np.random.default_rng(seed)
    s = list(1.2 + 0.05 * rng.standard_normal(tau + 1))
    for _ in range(n + burn):
        s.append(s[-1] + 0.2 * s[-1 - tau] / (1 + s[-1 - tau] ** 10) - 0.1 * s[-1])
    return np.array(s[-n:], dtype="float32")


class LeakyCell(keras.layers.Layer):
    def __init__(self, units, radius=0.9, leak=0.4, seed=0, **kw):
        super().__init__(**kw)
        self.units = self.state_size = self.output_size = units
        self.radius, self.leak, self.seed = radius, leak, seed

    def build(self, shape):
        rng = np.random.default_rng(self.seed)
        w = rng.normal(size=(self.units, self.units)) * (rng.random((self.units, self.units)) < 0.1)
        w *= self.radius / np.abs(np.linalg.eigvals(w)).max()
        u = rng.uniform(-0.6, 0.6, (shape[-1], self.units))
        self.w = self.add_weight(shape=w.shape, initializer=keras.initializers.Constant(w), trainable=False)
        self.u = self.add_weight(shape=u.shape, initializer=keras.initializers.Constant(u), trainable=False)
        self.built = True

    def call(self, x, states):
        (h,) = states
        new = tf.tanh(tf.matmul(x, self.u) + tf.matmul(h, self.w))
        h = (1 - self.leak) * h + self.leak * new
        return h, [h]


def windows(series, length, horizon):
    n = len(series) - length - horizon + 1
    idx = np.arange(n)[:, None] + np.arange(length)[None]
    return series[idx][..., None], series[np.arange(n) + length + horizon - 1][:, None]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--units", type=int, default=150)
    ap.add_argument("--window", type=int, default=60)
    ap.add_argument("--horizon", type=int, default=12)
    ap.add_argument("--epochs", type=int, default=60)
    args = ap.parse_args()
    keras.utils.set_random_seed(1)

    series = mackey_glass(3600)
    mean, std = series[:2800].mean(), series[:2800].std()
    series = (series - mean) / std
    x, y = windows(series[:2800], args.window, args.horizon)
    xt, yt = windows(series[2800:], args.window, args.horizon)

    reservoir = keras.layers.RNN(LeakyCell(args.units), name="reservoir")
    readout = keras.layers.Dense(1, kernel_initializer="zeros", kernel_regularizer=keras.regularizers.L2(1e-6))
    model = keras.Sequential([keras.Input((args.window, 1)), reservoir, readout])
    model.summary()

    steps = args.epochs * (len(x) // 64)
    model.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.PolynomialDecay(4e-2, steps, 1e-4)),
        loss="mse",
        metrics=["mae"],
    )
    for start in range(0, args.epochs, 10):
        h = model.fit(x, y, batch_size=64, initial_epoch=start, epochs=start + 10, verbose=0)
        print(f"epoch {start + 10}: loss {h.history['loss'][-1]:.4f} mae {h.history['mae'][-1]:.4f}")

    pred = model.predict(xt, verbose=0)
    r2 = 1 - ((pred - yt) ** 2).sum() / ((yt - yt.mean()) ** 2).sum()
    lazy = 1 - ((xt[:, -1] - yt) ** 2).sum() / ((yt - yt.mean()) ** 2).sum()
    print(f"R2 {args.horizon} steps ahead on the unseen tail: {r2:.3f} (last value kept: {lazy:.3f})")


if __name__ == "__main__":
    main()
