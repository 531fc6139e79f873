"""Does the whistle rise, fall or hold? Small spectrograms."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

BANDS, FRAMES = 24, 32
CLASSES = ("rise", "fall", "hold")


class WhistleBank:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def one(self, label):
        r = self.rng
        start = r.uniform(7, 16)
        slope = {0: 1, 1: -1, 2: 0}[label] * r.uniform(5, 7)
        t = np.linspace(-0.5, 0.5, FRAMES)
        line = start + slope * t
        bands = np.arange(BANDS)[:, None]
        spec = np.exp(-0.5 * ((bands - line[None]) / 1.1) ** 2)
        return spec * r.uniform(0.7, 1.3) + np.abs(r.normal(0, 0.25, spec.shape))

    def many(self, n):
        y = self.rng.integers(0, 3, n)
        x = np.stack([self.one(k) for k in y])[..., None]
        return x.astype("float32"), y.astype("int32")


def augment(spec, label):
    gain = tf.random.uniform([], 0.8, 1.2)
    spec = spec * gain
    spec = tf.roll(spec, tf.random.uniform([], -2, 3, tf.int32), axis=0)
    start = tf.random.uniform([], 0, FRAMES - 4, tf.int32)
    frames = tf.range(FRAMES)
    keep = tf.cast((frames < start) | (frames >= start + 4), tf.float32)
    return spec * keep[None, :, None], label


def net():
    return keras.Sequential([
        layers.Input((BANDS, FRAMES, 1)),
        layers.Conv2D(12, 5, strides=2, padding="same", activation="relu"),
        layers.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.GlobalAveragePooling2D(),
        layers.Dense(3),
    ])


def run():
    keras.utils.set_random_seed(17)
    x, y = WhistleBank(1).many(2400)
    xv, yv = WhistleBank(2).many(450)
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2400).map(augment).batch(40).prefetch(2)
    model = net()
    model.compile(keras.optimizers.Adam(2e-3),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit(train, epochs=8, validation_data=(xv, yv), verbose=2)
    guess = model.predict(xv, verbose=0).argmax(1)
    table = np.zeros((3, 3), int)
    np.add.at(table, (yv, guess), 1)
    print("rows are truth, columns are guesses", CLASSES)
    print(table)


run()
