import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import numpy as np
import tensorflow as tf
from tensorflow import keras

GESTURES = ("swipe", "circle", "shake", "tap", "tilt", "rest")
T, CH = 50, 3


def record(gesture, rng):
    """One fake recording of a three-axis accelerometer."""
    t = np.linspace(0, 1, T)
    ph = rng.uniform(0, 2 * np.pi)
    f = rng.uniform(0.8, 1.2)
    z = np.zeros((T, CH))
    if gesture == "swipe":
        z[:, 0] = np.exp(-((t - rng.uniform(.3, .7)) / 0.1) ** 2) * 2
    elif gesture == "circle":
        z[:, 0], z[:, 1] = np.sin(6.28 * 2 * f * t + ph), np.cos(6.28 * 2 * f * t + ph)
    elif gesture == "shake":
        z[:, 0] = 1.5 * np.sin(6.28 * 7 * f * t + ph)
    elif gesture == "tap":
        for _ in range(2):
            z[rng.integers(5, T - 5), 2] += 4
    elif gesture == "tilt":
        z[:, 1] = 1.5 * (t - 0.5) * rng.choice([-1, 1])
        z[:, 2] = 1 - np.abs(t - 0.5)
    return z * rng.uniform(0.7, 1.3) + rng.normal(0, 0.3, z.shape)


def load_recordings(per_class, rng):
    xs, ys = [], []
    for label, g in enumerate(GESTURES):
        for _ in range(per_class):
            xs.append(record(g, rng))
            ys.append(label)
    return np.asarray(xs, "float32"), np.asarray(ys, "int32")


def build(hidden):
    inp = keras.Input((T, CH))
    h = keras.layers.Conv1D(24, 5, padding="same", activation="relu")(inp)
    h = keras.layers.MaxPooling1D(2)(h)
    h = keras.layers.GRU(hidden)(h)
    h = keras.layers.Dropout(0.2)(h)
    out = keras.layers.Dense(len(GESTURES), activation="softmax")(h)
    return keras.Model(inp, out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--per-class", type=int, default=250)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    a = p.parse_args()

    keras.utils.set_random_seed(5)
    rng = np.random.default_rng(5)
    x, y = load_recordings(a.per_class, rng)
    order = rng.permutation(len(x))
    x, y = x[order], y[order]
    x = (x - x.mean((0, 1))) / x.std((0, 1))
    print("recordings", x.shape, "labels", np.bincount(y))

    model = build(a.hidden)
    model.compile(keras.optimizers.Adam(a.lr), "sparse_categorical_crossentropy", metrics=["accuracy"])
    hist = model.fit(x, y, epochs=a.epochs, batch_size=32, validation_split=0.2, shuffle=True, verbose=2)
    print("train acc", round(hist.history["accuracy"][-1], 3),
          "val acc", round(hist.history["val_accuracy"][-1], 3))

    x_new, y_new = load_recordings(60, np.random.default_rng(99))
    x_new = (x_new - x_new.mean((0, 1))) / x_new.std((0, 1))
    pred = model.predict(x_new, verbose=0).argmax(-1)
    print("new recordings acc", round(float((pred == y_new).mean()), 3))
    print(tf.math.confusion_matrix(y_new, pred).numpy())


if __name__ == "__main__":
    main()
