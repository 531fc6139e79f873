import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
S = 32
yy, xx = np.mgrid[:S, :S].astype("float32")


def colour_blobs(n):
    """source task: a coloured blob, label is the colour (6 classes)"""
    palette = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]], "float32")
    y = rng.integers(0, 6, n)
    (cx, cy), r = rng.uniform(8, 24, (2, n, 1, 1)), rng.uniform(4, 8, (n, 1, 1))
    mask = ((xx - cx) ** 2 + (yy - cy) ** 2 < r**2)[..., None]
    x = mask * palette[y][:, None, None, :] + rng.normal(0, 0.25, (n, S, S, 3))
    return x.astype("float32"), y


def gratings(n):
    """target task: orientation of a faint stripe pattern (4 classes)"""
    y = rng.integers(0, 4, n)
    ang = y * np.pi / 4 + rng.normal(0, 0.08, n)
    freq = rng.uniform(0.7, 1.1, n)
    ph = rng.uniform(0, 6.28, n)
    arg = xx * np.cos(ang)[:, None, None] + yy * np.sin(ang)[:, None, None]
    g = np.sin(arg * freq[:, None, None] + ph[:, None, None])[..., None]
    x = 0.5 * g * rng.uniform(0.3, 1, (n, 1, 1, 3)) + rng.normal(0, 0.5, (n, S, S, 3))
    return x.astype("float32"), y


# ---- "pretrained" base -------------------------------------------------
base = keras.Sequential([
    layers.Input((S, S, 3)),
    layers.Conv2D(8, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.GlobalAveragePooling2D(),
], name="base")
pre = keras.Sequential([base, layers.Dense(6, activation="softmax")])
pre.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
pre.fit(*colour_blobs(2000), epochs=5, batch_size=32, verbose=2)

# ---- new head on the frozen base ---------------------------------------
x_train, y_train = gratings(1600)
x_test, y_test = gratings(600)

base.trainable = False
model = keras.Sequential([base, layers.Dense(32, activation="relu"), layers.Dense(4, activation="softmax")])
model.compile(optimizer=keras.optimizers.Adam(1e-3),
              loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=5, batch_size=32, validation_split=0.15, verbose=2)

# ---- fine tuning of everything with a smaller step ----------------------
base.trainable = True
model.optimizer.learning_rate = 5e-4
model.fit(x_train, y_train, epochs=12, batch_size=32, validation_split=0.15, verbose=2)

loss, acc = model.evaluate(x_test, y_test, verbose=0)
print(f"test loss {loss:.3f}  test accuracy {acc:.3f}")
