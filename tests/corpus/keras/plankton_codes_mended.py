"""Classify 40 plankton silhouettes (Fourier descriptors of the outline) with a custom TF loop."""
import time

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.random.set_seed(21)
SPECIES, POINTS, COEFFS = 40, 64, 10


def outlines(n, seed):
    proto = np.random.default_rng(99)
    amp = proto.normal(0, 1, (SPECIES, COEFFS)) / np.arange(1, COEFFS + 1) ** 0.7
    phase = proto.uniform(0, 2 * np.pi, (SPECIES, COEFFS))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, SPECIES, n)
    angle = np.linspace(0, 2 * np.pi, POINTS, endpoint=False)
    k = np.arange(1, COEFFS + 1)
    a = amp[y] * rng.normal(1, 0.25, (n, COEFFS)) + rng.normal(0, 0.1, (n, COEFFS))
    ph = phase[y] + rng.normal(0, 0.25, (n, COEFFS))
    r = (a[:, :, None] * np.cos(k[None, :, None] * angle + ph[:, :, None])).sum(1)
    r = r * rng.uniform(0.8, 1.25, (n, 1)) + rng.normal(0, 0.3, (n, POINTS))
    return r.astype("float32"), y.astype("int64")


class OutlineNet(tf.keras.Model):
    def __init__(self, classes):
        super().__init__()
        self.hidden = [layers.Dense(128, activation="gelu"), layers.Dense(128, activation="gelu")]
        self.norm = layers.LayerNormalization()
        self.drop = layers.Dropout(0.2)
        self.out = layers.Dense(classes)

    def call(self, x, training=False):
        x = self.norm(x)
        for layer in self.hidden:
            x = self.drop(layer(x), training=training)
        return self.out(x)


class Fit:
    def __init__(self, model, lr):
        self.model = model
        self.opt = tf.keras.optimizers.SGD(lr, momentum=0.9)
        self.seen = tf.keras.metrics.Mean()

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            scores = self.model(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=scores))
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        self.seen.update_state(loss)

    def accuracy(self, ds):
        hits = [tf.cast(tf.argmax(self.model(x), -1) == y, tf.float32) for x, y in ds]
        return float(tf.reduce_mean(tf.concat(hits, 0)))

    def run(self, train, held, epochs):
        for e in range(1, epochs + 1):
            t0 = time.time()
            self.seen.reset_state()
            for x, y in train:
                self.step(x, y)
            if e % 4 == 0:
                print(f"[{e:02d}/{epochs}] loss {self.seen.result():.4f} held-out acc {self.accuracy(held):.3f} "
                      f"({time.time() - t0:.1f}s)")


def main():
    x, y = outlines(6000, 1)
    xh, yh = outlines(1500, 2)
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(6000, seed=3).batch(64, drop_remainder=True)
    held = tf.data.Dataset.from_tensor_slices((xh, yh)).batch(500)
    fit = Fit(OutlineNet(SPECIES), lr=0.05)
    fit.run(train, held, epochs=24)
    print(f"held-out accuracy {fit.accuracy(held):.3f}  (chance {1 / SPECIES:.3f})")


if __name__ == "__main__":
    main()
