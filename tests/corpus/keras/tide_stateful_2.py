"""Tide gauge: stateful LSTM reads eight long records side by side, in order; state is carried from chunk to chunk."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

LANES, CHUNK, CHUNKS = 8, 25, 60


def gauge(n, rng):
    t = np.arange(n + 1)
    m2, s2 = 2 * np.pi / 12.42, 2 * np.pi / 12.0
    a, b = rng.uniform(0.8, 1.4), rng.uniform(0.3, 0.6)
    surge = np.zeros(n + 1)
    for i in range(1, n + 1):
        surge[i] = 0.95 * surge[i - 1] + rng.normal(0, 0.04)
    h = a * np.sin(m2 * t + rng.uniform(0, 6)) + b * np.sin(s2 * t + rng.uniform(0, 6)) + surge
    return h


def lanes(rng):
    """Row order is chunk-major: row c * LANES + lane continues row (c - 1) * LANES + lane."""
    series = np.stack([gauge(CHUNK * CHUNKS, rng) for _ in range(LANES)])
    x = series[:, :-1].reshape(LANES, CHUNKS, CHUNK).transpose(1, 0, 2).reshape(-1, CHUNK, 1)
    y = series[:, 1:].reshape(LANES, CHUNKS, CHUNK).transpose(1, 0, 2).reshape(-1, CHUNK, 1)
    return x.astype("float32"), y.astype("float32")


class RewindAtEpoch(keras.callbacks.Callback):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def on_epoch_begin(self, epoch, logs=None):
        self.layer.reset_state()


def main():
    keras.utils.set_random_seed(70)
    rng = np.random.default_rng(70)
    x, y = lanes(rng)
    xt, yt = lanes(rng)

    memory = layers.LSTM(32, return_sequences=True, stateful=True)
    model = keras.Sequential([keras.Input(batch_shape=(LANES, CHUNK, 1)), memory, layers.Dense(1)])
    model.compile(keras.optimizers.Adam(4e-3, clipnorm=1.0), loss="mse")
    hist = model.fit(x, y, batch_size=LANES, epochs=30, shuffle=False, verbose=0, callbacks=[RewindAtEpoch(memory)])
    for e in range(4, 30, 5):
        print(f"epoch {e + 1:2d}  train mse {hist.history['loss'][e]:.4f}")

    memory.reset_state()
    mse = model.evaluate(xt, yt, batch_size=LANES, verbose=0)
    print(f"unseen gauges: mse {mse:.4f}   repeating the last level {np.mean((xt - yt) ** 2):.4f}")


if __name__ == "__main__":
    main()
