import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(111)
rng = np.random.default_rng(111)
LOOKBACK = 36
PASSES = 30


def tide_series(n=3000):
    t = np.arange(n)
    level = np.sin(2 * np.pi * t / 12.4) + 0.5 * np.sin(2 * np.pi * t / 25.8 + 1) + 0.3 * np.sin(2 * np.pi * t / 350)
    return (level + rng.normal(0, 0.1, n)).astype("float32")


def windows(series):
    x = np.lib.stride_tricks.sliding_window_view(series[:-1], LOOKBACK)
    return x.copy(), series[LOOKBACK:].copy()[:, None]


class TideNet(keras.Model):
    def __init__(self, rate):
        super().__init__()
        self.h1 = layers.Dense(96, activation="relu")
        self.d1 = layers.Dropout(rate)
        self.h2 = layers.Dense(48, activation="relu")
        self.d2 = layers.Dropout(rate)
        self.out = layers.Dense(1)

    def call(self, x, training=False):
        h = self.d1(self.h1(x), training=training)
        h = self.d2(self.h2(h), training=training)
        return self.out(h)

    def sample(self, x, passes):
        return np.stack([self(x, training=True).numpy()[:, 0] for _ in range(passes)])


series = tide_series()
cut = 2400
x_tr, y_tr = windows(series[:cut])
x_te, y_te = windows(series[cut - LOOKBACK:])

net = TideNet(0.1)
net.compile(optimizer=keras.optimizers.Adam(2e-3), loss="huber")
net.fit(x_tr, y_tr, epochs=20, batch_size=64, verbose=0)

draws = net.sample(tf.constant(x_te), PASSES)
centre = draws.mean(axis=0)
noise = np.sqrt(np.mean((net.predict(x_tr, verbose=0) - y_tr) ** 2))
spread = np.sqrt(draws.var(axis=0) + noise ** 2)
y = y_te[:, 0]
inside = (np.abs(y - centre) < 1.645 * spread).mean()
rmse = np.sqrt(np.mean((centre - y) ** 2))
persist = np.sqrt(np.mean((x_te[:, -1] - y) ** 2))
print(f"rmse {rmse:.3f}  persistence rmse {persist:.3f}")
print(f"90% interval covers {inside:.3f}")
