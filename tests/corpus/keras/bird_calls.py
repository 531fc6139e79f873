"""Classify log-mel frames of bird calls with a conv front end and a dense classifier."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SPECIES, MELS, FRAMES = 6, 24, 20


def calls(n, rng):
    """Decibel spectrograms, about -80 to 0."""
    y = rng.integers(0, SPECIES, n)
    t = np.linspace(0, 1, FRAMES)
    mel = np.arange(MELS)[:, None]
    x = np.full((n, MELS, FRAMES), -70.0)
    for i, k in enumerate(y):
        base = rng.uniform(7, 16)
        sweep = [6 * t, -6 * t, 3 * np.sin(6.28 * 2 * t), 0 * t, 3 * np.sin(6.28 * 4 * t), 5 * np.abs(t - .5) * 2][k]
        line = base + sweep
        x[i] += 45 * np.exp(-((mel - line) / 1.2) ** 2) * rng.uniform(0.6, 1)
    x += rng.normal(0, 8, x.shape)
    return x[..., None].astype("float32"), y.astype("int32")


def block(x, f, stride):
    for st in (1, stride):
        x = layers.Conv2D(f, 3, strides=st, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.ReLU()(x)
    return x


def frontend():
    inp = keras.Input((MELS, FRAMES, 1))
    x = layers.Rescaling(1 / 40, offset=1.5)(inp)
    x = block(x, 12, 2)
    x = block(x, 24, 2)
    return keras.Model(inp, layers.GlobalAveragePooling2D()(x), name="frontend")


def classifier():
    return keras.Sequential([
        keras.Input((24,)), layers.Dense(32, activation="relu"), layers.Dropout(0.1), layers.Dense(SPECIES),
    ], name="classifier")


class Learner:
    def __init__(self, front, head, lr):
        self.front, self.head = front, head
        self.opt = keras.optimizers.Adam(lr)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.train_loss = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()
        self.params = self.head.trainable_variables

    @tf.function
    def step(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.head(self.front(x, training=True), training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.params)
        self.opt.apply_gradients(zip(grads, self.params))
        self.train_loss.update_state(loss)

    @tf.function
    def check(self, x, y):
        self.acc.update_state(y, self.head(self.front(x, training=False), training=False))

    def run(self, train, valid, epochs):
        for e in range(epochs):
            self.train_loss.reset_state()
            self.acc.reset_state()
            for x, y in train:
                self.step(x, y)
            for x, y in valid:
                self.check(x, y)
            print(f"epoch {e} loss {float(self.train_loss.result()):.4f} valid acc {float(self.acc.result()):.4f}")


if __name__ == "__main__":
    keras.utils.set_random_seed(13)
    rng = np.random.default_rng(13)
    train = tf.data.Dataset.from_tensor_slices(calls(1200, rng)).shuffle(1200).batch(32)
    valid = tf.data.Dataset.from_tensor_slices(calls(300, rng)).batch(100)
    Learner(frontend(), classifier(), 2e-3).run(train, valid, 10)
