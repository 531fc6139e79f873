import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

# ---- diffraction-like curves -------------------------------------------------
GRID = np.linspace(0, 1, 96)


def curve(peaks, widths, noise=0.08):
    y = sum(np.exp(-0.5 * ((GRID - p) / w) ** 2) for p, w in zip(peaks, widths))
    return y + rng.normal(0, noise, GRID.shape)


def source_task(n):
    """coarse task: in which third of the range is the main peak"""
    x, y = [], []
    for _ in range(n):
        p = rng.uniform(0.05, 0.95)
        x.append(curve([p], [0.03]))
        y.append(min(int(p * 3), 2))
    return np.array(x, "float32")[..., None], np.array(y)


def target_task(n):
    """fine task: spacing between two peaks, four classes"""
    x, y = [], []
    for _ in range(n):
        c = rng.integers(4)
        gap = 0.08 + 0.05 * c + rng.uniform(-0.01, 0.01)
        p = rng.uniform(0.1, 0.9 - gap)
        x.append(curve([p, p + gap], [0.015, 0.015]))
        y.append(c)
    return np.array(x, "float32")[..., None], np.array(y)


def make_encoder():
    i = layers.Input((96, 1))
    h = layers.Conv1D(16, 7, strides=2, padding="same", activation="relu")(i)
    h = layers.Conv1D(24, 7, strides=2, padding="same", activation="relu")(h)
    h = layers.Conv1D(24, 5, padding="same", activation="relu")(h)
    h = layers.GlobalMaxPooling1D()(h)
    return keras.Model(i, h, name="encoder")


encoder = make_encoder()
xs, ys = source_task(1500)
pre = keras.Sequential([encoder, layers.Dense(3, activation="softmax")])
pre.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
h = pre.fit(xs, ys, epochs=4, batch_size=64, verbose=0)
print("source accuracy", round(h.history["accuracy"][-1], 3))

# ---- transfer ----------------------------------------------------------------
xt, yt = target_task(3000)
xv, yv = target_task(600)
encoder.trainable = False
inp = layers.Input((96, 1))
feat = encoder(inp)
out = layers.Dense(32, activation="relu")(feat)
out = layers.Dense(4, activation="softmax")(out)
net = keras.Model(inp, out)

net.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
print("warm-up of the head")
net.fit(xt, yt, validation_data=(xv, yv), epochs=4, batch_size=64, verbose=2)

encoder.trainable = True
print("fine-tuning of the whole network")
net.fit(xt, yt, validation_data=(xv, yv), epochs=14, batch_size=64, verbose=2)
loss, acc = net.evaluate(xv, yv, verbose=0)
print(f"final validation accuracy {acc:.3f}")
