import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

MICRO, ACCUM = 8, 6


def make_seeds(n, rng):
    yy, xx = np.mgrid[-1:1:20j, -1:1:20j]
    y = rng.integers(0, 4, n)
    out = np.empty((n, 20, 20, 1), "float32")
    for i, k in enumerate(y):
        a = rng.uniform(0, np.pi)
        u, v = xx * np.cos(a) + yy * np.sin(a), -xx * np.sin(a) + yy * np.cos(a)
        length, width = [(0.5, 0.5), (0.8, 0.35), (0.75, 0.15), (0.25, 0.25)][k]
        body = ((u / length) ** 2 + (v / width) ** 2 < 1).astype("float32")
        out[i, ..., 0] = body + rng.normal(0, 0.3, body.shape)
    return out, y.astype("int32")


class Accumulator:
    def __init__(self, model, optimizer, every):
        self.model, self.optimizer, self.every = model, optimizer, every
        self.slots = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        optimizer.build(model.trainable_variables)

    @tf.function
    def add(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.model(x, training=True)) / self.every
        for slot, g in zip(self.slots, tape.gradient(loss, self.model.trainable_variables)):
            slot.assign_add(g)
        return loss * self.every

    @tf.function
    def flush(self):
        self.optimizer.apply_gradients(
            [(tf.identity(s), v) for s, v in zip(self.slots, self.model.trainable_variables)])
        for s in self.slots:
            s.assign(tf.zeros_like(s))


if __name__ == "__main__":
    keras.utils.set_random_seed(19)
    rng = np.random.default_rng(19)
    x, y = make_seeds(2400, rng)
    xv, yv = make_seeds(400, rng)
    model = keras.Sequential([
        layers.Input((20, 20, 1)), layers.Conv2D(12, 3, strides=2, activation="relu"), layers.GroupNormalization(4),
        layers.Conv2D(24, 3, strides=2, activation="relu"), layers.Flatten(), layers.Dense(4)])
    acc = Accumulator(model, keras.optimizers.SGD(0.05, momentum=0.9), ACCUM)
    for epoch in range(10):
        order = rng.permutation(len(x))
        losses = []
        for k, s in enumerate(range(0, len(x), MICRO)):
            idx = order[s:s + MICRO]
            losses.append(float(acc.add(tf.constant(x[idx]), tf.constant(y[idx]))))
            if (k + 1) % ACCUM == 0:
                acc.flush()
        guess = model(xv, training=False).numpy().argmax(1)
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} val acc {np.mean(guess == yv):.3f}")
