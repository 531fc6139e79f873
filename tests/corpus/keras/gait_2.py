"""Gait from an accelerometer: micro-batches of 4, one update per 8 of them, plain SGD."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

GAITS = ["stand", "walk", "jog", "limp"]
STEPS = 64


def recordings(n, seed):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(0, len(GAITS), n)).astype("int32")
    t = np.arange(STEPS)
    x = np.empty((n, STEPS, 3), "float32")
    for i, k in enumerate(y):
        f = {0: 0.0, 1: 0.06, 2: 0.11, 3: 0.06}[k] * rng.uniform(0.9, 1.1)
        ph = rng.uniform(0, 6.28)
        amp = {0: 0.0, 1: 1.0, 2: 1.6, 3: 1.0}[k] * rng.uniform(0.8, 1.2)
        up = amp * np.sin(2 * np.pi * f * t + ph)
        if k == 3:
            up += 0.8 * amp * np.sin(np.pi * f * t + ph)
        x[i, :, 0] = up
        x[i, :, 1] = 0.5 * np.roll(up, 3)
        x[i, :, 2] = 0.3 * up ** 2
    x += rng.normal(0, 0.35, x.shape)
    return x, y


def build():
    return keras.Sequential([
        keras.Input((STEPS, 3)),
        layers.LayerNormalization(axis=(1, 2)),
        layers.Conv1D(24, 9, strides=2, activation="relu"),
        layers.Conv1D(32, 9, strides=2, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.LayerNormalization(),
        layers.Dense(len(GAITS), kernel_initializer="zeros"),
    ])


class Accumulator:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every
        self.slots = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in model.trainable_variables]
        self.pending = 0

    @tf.function
    def backward(self, x, y):
        with tf.GradientTape() as tape:
            nll = tf.nn.sparse_softmax_cross_entropy_with_logits(y, self.model(x, training=True))
            loss = tf.reduce_mean(nll) / self.every
        for s, g in zip(self.slots, tape.gradient(loss, self.model.trainable_variables)):
            s.assign_add(g)
        return loss * self.every

    @tf.function
    def flush(self):
        self.optimizer.apply_gradients(zip([s.read_value() for s in self.slots],
                                           self.model.trainable_variables))
        for s in self.slots:
            s.assign(tf.zeros_like(s))

    def feed(self, x, y):
        loss = self.backward(x, y)
        self.pending += 1
        if self.pending == self.every:
            self.flush()
            self.pending = 0
        return float(loss)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=0.3)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--micro", type=int, default=4)
    p.add_argument("--every", type=int, default=8)
    a = p.parse_args()
    keras.utils.set_random_seed(2)
    x, y = recordings(1280, 1)
    x_te, y_te = recordings(400, 2)
    model = build()
    acc = Accumulator(model, keras.optimizers.SGD(a.lr), a.every)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(x), seed=6).batch(a.micro)
    for epoch in range(a.epochs):
        losses = [acc.feed(xb, yb) for xb, yb in ds]
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} first {losses[0]:.4f}")
    logits = model(x_te, training=False).numpy()
    print(f"test accuracy {np.mean(logits.argmax(1) == y_te):.4f}  "
          f"(majority {np.bincount(y_te).max() / len(y_te):.4f})")


if __name__ == "__main__":
    main()
