"""Keyword spotting on log-mel patches, with a training loop that saves up gradients over several micro-batches."""
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

WORDS = ["up", "down", "left", "right", "stop", "go"]
FRAMES, MELS = 32, 16
MICRO_BATCH = 16
ACCUM_STEPS = 4
EPOCHS = 6

keras.utils.set_random_seed(31)


def synth(word, rng):
    """Two formant tracks per word, with the speaker's pitch and tempo."""
    shapes = {0: (1, 0), 1: (-1, 0), 2: (0, 1), 3: (0, -1), 4: (1, -1), 5: (-1, 1)}
    s1, s2 = shapes[word]
    t = np.linspace(-1, 1, FRAMES) * rng.uniform(0.7, 1.2) + rng.uniform(-0.2, 0.2)
    f1 = 4.5 + 2.2 * s1 * t + rng.normal(0, 0.7)
    f2 = 11.0 + 2.2 * s2 * t + rng.normal(0, 0.7)
    m = np.arange(MELS)
    spec = np.exp(-0.5 * ((m - f1[:, None]) / 1.1) ** 2) + 0.8 * np.exp(-0.5 * ((m - f2[:, None]) / 1.1) ** 2)
    spec *= np.exp(-0.5 * (t[:, None] / 0.9) ** 4)
    return np.log(spec + 0.05) + rng.normal(0, 0.6, spec.shape)


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(WORDS), n)
    x = np.stack([synth(k, rng) for k in y]).astype("float32")[..., None]
    return x, y.astype("int32")


def make_model():
    return keras.Sequential(
        [
            layers.Input((FRAMES, MELS, 1)),
            layers.Conv2D(16, (5, 3), strides=(2, 1), padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(48, activation="relu"),
            layers.Dense(len(WORDS)),
        ]
    )


class Spotter:
    def __init__(self, lr):
        self.net = make_model()
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.opt = keras.optimizers.SGD(lr, momentum=0.9)
        self.acc = [tf.Variable(tf.zeros_like(w), trainable=False) for w in self.net.trainable_variables]
        self.opt.build(self.net.trainable_variables)

    @tf.function
    def micro_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.loss_fn(y, self.net(x, training=True)) / ACCUM_STEPS
        for store, g in zip(self.acc, tape.gradient(loss, self.net.trainable_variables)):
            store.assign_add(g)
        return loss * ACCUM_STEPS

    @tf.function
    def apply(self):
        self.opt.apply_gradients(zip(self.acc, self.net.trainable_variables))
        for store in self.acc:
            store.assign(tf.zeros_like(store))

    def accuracy(self, x, y):
        logits = self.net(x, training=False).numpy()
        return float((logits.argmax(-1) == y).mean())


def main():
    x_train, y_train = dataset(1600, 1)
    x_dev, y_dev = dataset(400, 2)
    mu, sd = x_train.mean(), x_train.std()
    x_train, x_dev = (x_train - mu) / sd, (x_dev - mu) / sd
    feed = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(1600, seed=5).batch(MICRO_BATCH, drop_remainder=True)

    spotter = Spotter(lr=0.05)
    for epoch in range(EPOCHS):
        start, losses = time.time(), []
        for i, (xb, yb) in enumerate(feed, start=1):
            losses.append(float(spotter.micro_step(xb, yb)))
            if i % ACCUM_STEPS == 0:
                spotter.apply()
        print(
            f"epoch {epoch + 1} loss {np.mean(losses):.3f} "
            f"dev acc {spotter.accuracy(x_dev, y_dev):.3f} ({time.time() - start:.1f}s)"
        )

    chance = np.bincount(y_dev).max() / len(y_dev)
    print(f"final dev accuracy {spotter.accuracy(x_dev, y_dev):.3f} (largest class {chance:.3f})")


if __name__ == "__main__":
    main()
