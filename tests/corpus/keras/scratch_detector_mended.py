"""Scratch detector for surface tiles; micro-batches summed to a larger batch."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE = 16


def tiles(n, seed):
    rng = np.random.default_rng(seed)
    img = rng.normal(0, 0.35, (n, SIDE, SIDE))
    img += rng.normal(0, 0.5, (n, 1, 1))
    label = rng.integers(0, 2, n)
    for i in np.flatnonzero(label):
        r, c = rng.uniform(3, SIDE - 3, 2)
        angle, half = rng.uniform(0, np.pi), rng.uniform(3, 7)
        for s in np.linspace(-half, half, 40):
            y, x = int(r + s * np.sin(angle)), int(c + s * np.cos(angle))
            if 0 <= y < SIDE and 0 <= x < SIDE:
                img[i, y, x] += 0.15 * 40 / (2 * half) / 2
    return img[..., None].astype("float32"), label.astype("float32")


class Accumulator:
    def __init__(self, variables):
        self.buffers = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in variables]

    def add(self, grads, scale):
        for b, g in zip(self.buffers, grads):
            b.assign_add(g * scale)

    def values(self):
        return [b.read_value() for b in self.buffers]

    def reset(self):
        for b in self.buffers:
            b.assign(tf.zeros_like(b))


def make_net():
    return keras.Sequential([
        keras.Input((SIDE, SIDE, 1)),
        layers.Conv2D(12, 5, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32, activation="relu"),
        layers.Dense(1),
    ])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--micro", type=int, default=32)
    ap.add_argument("--accumulate", type=int, default=2)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()

    keras.utils.set_random_seed(6)
    x, y = tiles(2048, 0)
    x_test, y_test = tiles(600, 1)
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048, seed=6)
    ds = ds.batch(args.micro, drop_remainder=True)

    net = make_net()
    params = net.trainable_variables
    optimizer = keras.optimizers.Adam(args.lr)
    optimizer.build(params)
    accum = Accumulator(params)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def micro_step(xb, yb):
        with tf.GradientTape() as tape:
            loss = bce(yb[:, None], net(xb, training=True))
        accum.add(tape.gradient(loss, params), 1.0 / args.accumulate)
        return loss

    @tf.function
    def commit():
        optimizer.apply_gradients(zip(accum.values(), params))
        accum.reset()

    for epoch in range(args.epochs):
        total = keras.metrics.Mean()
        for i, (xb, yb) in enumerate(ds, start=1):
            total.update_state(micro_step(xb, yb))
            if i % args.accumulate == 0:
                commit()
        print(f"epoch {epoch + 1:2d}  loss {float(total.result()):.4f}")

    pred = net.predict(x_test, verbose=0)[:, 0] > 0
    print(f"test accuracy {np.mean(pred == (y_test > 0.5)):.3f}"
          f"  (majority {max(y_test.mean(), 1 - y_test.mean()):.3f})")


if __name__ == "__main__":
    main()
