import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

ACTIVITIES = ["rest", "walk", "run", "stairs"]
WINDOW = 64


def record(activity, rng):
    t = np.arange(WINDOW) / 32.0
    base = {"rest": (0.0, 0.0, 0.0), "walk": (1.8, 0.8, 0.2),
            "run": (2.9, 1.4, 0.5), "stairs": (1.5, 1.0, 0.9)}[activity]
    freq, amp, tilt = base
    freq = freq * rng.uniform(0.9, 1.1)
    ph = rng.uniform(0, 2 * np.pi)
    ax = amp * np.sin(2 * np.pi * freq * t + ph)
    ay = 0.5 * amp * np.cos(4 * np.pi * freq * t + ph)
    az = 1.0 + tilt * np.sin(np.pi * freq * t + ph)
    return np.stack([ax, ay, az], -1) + rng.normal(0, 0.35, (WINDOW, 3))


def collect(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(ACTIVITIES), n)
    windows = np.stack([record(ACTIVITIES[k], rng) for k in labels])
    return windows.astype("float32"), labels.astype("int32")


class Standardiser:
    def fit(self, x):
        self.mean = x.mean((0, 1))
        self.std = x.std((0, 1)) + 1e-6
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std


def training_pipeline(x, y, batch_size):
    windows = tf.data.Dataset.from_tensor_slices(x)
    labels = tf.data.Dataset.from_tensor_slices(y)
    ds = tf.data.Dataset.zip((windows, labels)).shuffle(len(x))
    return ds.batch(batch_size).prefetch(2)


def evaluation_pipeline(x, y, batch_size):
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(batch_size)


def build():
    return keras.Sequential([
        layers.Input((WINDOW, 3)),
        layers.Conv1D(24, 7, strides=2, activation="relu"),
        layers.Conv1D(32, 5, strides=2, activation="relu"),
        layers.GlobalMaxPooling1D(),
        layers.Dropout(0.2),
        layers.Dense(len(ACTIVITIES), activation="softmax"),
    ])


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    x_tr, y_tr = collect(1600, 1)
    x_va, y_va = collect(400, 2)
    scale = Standardiser().fit(x_tr)

    train_ds = training_pipeline(scale(x_tr), y_tr, 32)
    val_ds = evaluation_pipeline(scale(x_va), y_va, 128)

    model = build()
    model.compile(optimizer=keras.optimizers.Adam(2e-3),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train_ds, validation_data=val_ds, epochs=8, verbose=2,
              callbacks=[keras.callbacks.ReduceLROnPlateau(patience=3)])
    loss, acc = model.evaluate(val_ds, verbose=0)
    print(f"validation loss {loss:.4f} accuracy {acc:.4f} (majority {np.bincount(y_va).max() / len(y_va):.3f})")
