"""Plankton silhouettes: 5 body plans, 20x20 masks from a flow cytometer.

Custom half-precision loop: the forward pass runs in float16, master weights stay in float32.
"""
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

LOSS_SCALE = 1024.0
SIZE = 20


def silhouette(kind, rng):
    yy, xx = np.mgrid[:SIZE, :SIZE].astype("float32")
    cy, cx = rng.uniform(7.5, 11.5, 2)
    th = rng.uniform(0, np.pi)
    u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th)
    v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
    r = np.hypot(u, v)
    s = rng.uniform(0.85, 1.15)
    if kind == 0:      # round
        m = r < 4.5 * s
    elif kind == 1:    # rod
        m = (np.abs(u) < 7 * s) & (np.abs(v) < 1.5)
    elif kind == 2:    # ring
        m = np.abs(r - 5 * s) < 1.2
    elif kind == 3:    # star
        m = r < (3 + 3 * np.abs(np.cos(2 * np.arctan2(v, u)))) * s
    else:              # chain of two
        m = (np.hypot(u - 3.2 * s, v) < 2.6) | (np.hypot(u + 3.2 * s, v) < 2.6)
    return m * rng.uniform(0.6, 1.0) + rng.normal(0, 0.2, m.shape)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n).astype("int64")
    x = np.stack([silhouette(k, rng) for k in y]).astype("float32")[..., None]
    return x, y


def build():
    keras.mixed_precision.set_global_policy("mixed_float16")
    model = keras.Sequential([
        keras.Input((SIZE, SIZE, 1)),
        layers.Conv2D(12, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dense(48, activation="relu"),
        layers.Dense(5, dtype="float32"),
    ])
    return model


class Trainer:
    def __init__(self, model, lr=0.1):
        self.model = model
        self.opt = keras.optimizers.SGD(learning_rate=lr)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.mean_loss = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_batch(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x, training=True)
            loss = self.loss_fn(y, logits)
            scaled = loss * LOSS_SCALE
        grads = tape.gradient(scaled, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.mean_loss.update_state(loss)
        self.acc.update_state(y, logits)

    def fit(self, ds, epochs):
        for epoch in range(1, epochs + 1):
            t0 = time.perf_counter()
            self.mean_loss.reset_state()
            self.acc.reset_state()
            for x, y in ds:
                self.train_batch(x, y)
            print(f"epoch {epoch:2d} | loss {float(self.mean_loss.result()):.4f} | "
                  f"acc {float(self.acc.result()):.3f} | {time.perf_counter() - t0:.1f}s")

    def score(self, x, y):
        logits = self.model.predict(x, batch_size=256, verbose=0)
        return float((logits.argmax(1) == y).mean())


def main():
    keras.utils.set_random_seed(12)
    x_tr, y_tr = dataset(2400, 0)
    x_te, y_te = dataset(800, 1)
    mu, sd = x_tr.mean(), x_tr.std()
    x_tr, x_te = (x_tr - mu) / sd, (x_te - mu) / sd
    ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(2400, seed=3).batch(48).prefetch(1)

    trainer = Trainer(build())
    trainer.fit(ds, epochs=10)
    print(f"held-out accuracy {trainer.score(x_te, y_te):.3f} (chance 0.200)")


if __name__ == "__main__":
    main()
