"""Gesture recognition from wrist accelerometers, with activation statistics logged along the way.

We watch the share of silent units and the activation scale while training a small conv net.
"""
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

GESTURES = ["circle", "swipe", "shake", "tap", "twist"]
STEPS = 40


def record(rng, g):
    t = np.linspace(0, 1, STEPS)
    ph, sp = rng.uniform(0, 6.28), rng.uniform(0.85, 1.2)
    a = np.zeros((STEPS, 3))
    if g == 0:
        a[:, 0], a[:, 1] = np.sin(2 * np.pi * 2 * sp * t + ph), np.cos(2 * np.pi * 2 * sp * t + ph)
    elif g == 1:
        c = rng.uniform(0.3, 0.7)
        a[:, 0] = 1.6 * (t - c) / 0.1 * np.exp(-((t - c) / 0.14) ** 2)
    elif g == 2:
        a[:, 1] = np.sin(2 * np.pi * 7 * sp * t + ph)
    elif g == 3:
        for c in (0.35, 0.6):
            a[:, 2] += 1.8 * np.exp(-((t - c - rng.normal(0, 0.03)) / 0.03) ** 2)
    else:
        a[:, 0] = np.sin(2 * np.pi * 2 * sp * t + ph)
        a[:, 2] = -np.cos(2 * np.pi * 2 * sp * t + ph)
    return a + np.array([0, 0, 0.3]) + rng.normal(0, 0.5, a.shape)


def load(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(GESTURES), n)
    x = np.stack([record(rng, g) for g in y]).astype("float32")
    return x, y.astype("int64")


class HookedDense(layers.Dense):
    """Dense layer whose output can be observed by listeners."""

    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.listeners = []

    def call(self, inputs, training=None):
        out = super().call(inputs, training=training)
        for fn in self.listeners:
            fn(self.name, out)
        return out


class GestureNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = layers.Conv1D(24, 5, strides=2, padding="same", activation="relu")
        self.conv2 = layers.Conv1D(32, 5, strides=2, padding="same", activation="relu")
        self.pool = layers.GlobalMaxPooling1D()
        self.hidden = HookedDense(48, activation="relu", name="hidden")
        self.drop = layers.Dropout(0.2)
        self.head = HookedDense(len(GESTURES), name="head")

    def call(self, x, training=False):
        h = self.pool(self.conv2(self.conv(x)))
        h = self.drop(self.hidden(h), training=training)
        return self.head(h)


class ActivationWatch:
    def __init__(self):
        self.rows = []

    def attach(self, model):
        for layer in (model.hidden, model.head):
            layer.listeners.append(self.observe)

    def observe(self, name, out):
        silent = tf.reduce_mean(tf.cast(tf.reduce_max(out, axis=0) <= 0, tf.float32))
        hist = tf.histogram_fixed_width(out, [-6.0, 6.0], nbins=40)
        self.rows.append((name, float(silent), float(tf.math.reduce_std(out)), hist.numpy()))

    def flush(self):
        silent = np.mean([r[1] for r in self.rows if r[0] == "hidden"])
        scale = np.mean([r[2] for r in self.rows if r[0] == "head"])
        self.rows.clear()
        return silent, scale


def main(epochs=4, batch=32):
    keras.utils.set_random_seed(6)
    x_tr, y_tr = load(1600, 0)
    x_te, y_te = load(600, 1)
    net = GestureNet()
    net(x_tr[:1])
    opt = keras.optimizers.Nadam(2e-3)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    watch = ActivationWatch()
    ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(1600, seed=2).batch(batch)

    for epoch in range(epochs):
        losses, times = [], []
        for xb, yb in ds:
            t0 = time.perf_counter()
            watch.attach(net)
            with tf.GradientTape() as tape:
                loss = loss_fn(yb, net(xb, training=True))
            grads = tape.gradient(loss, net.trainable_variables)
            opt.apply_gradients(zip(grads, net.trainable_variables))
            losses.append(float(loss))
            times.append(time.perf_counter() - t0)
        n_rows = len(watch.rows)
        silent, scale = watch.flush()
        print(f"epoch {epoch + 1}  loss {np.mean(losses):.4f}  silent {silent:.2f}  logit std {scale:.2f}  "
              f"rows {n_rows}  first 10 steps {1e3 * np.mean(times[:10]):.1f} ms  last 10 {1e3 * np.mean(times[-10:]):.1f} ms")

    pred = np.argmax(net(x_te, training=False).numpy(), axis=1)
    print(f"test accuracy {np.mean(pred == y_te):.3f} (chance {1 / len(GESTURES):.2f})")


if __name__ == "__main__":
    main()
