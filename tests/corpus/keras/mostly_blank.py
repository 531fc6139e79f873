"""FixMatch (Sohn et al., 2020) with an EMA copy for evaluation; 40 labelled tiles, the rest marked -1."""
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 9
CLASSES, SIDE, LABELLED = 4, 16, 40
THRESHOLD, EMA = 0.9, 0.98
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def tiles(n):
    y = rng.integers(0, CLASSES, n)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    x = np.empty((n, SIDE, SIDE, 1), dtype="float32")
    for i, k in enumerate(y):
        phase, freq = rng.uniform(0, 6.3), rng.uniform(0.8, 1.2)
        wave = [xx, yy, (xx + yy) * 0.7, (xx - yy) * 0.7][k]
        x[i, :, :, 0] = np.sin(wave * freq + phase) + rng.normal(0, 0.6, (SIDE, SIDE))
    return x, y.astype("int32")


def weak(x):
    return tf.roll(x, shift=tf.random.uniform((2,), -2, 3, tf.int32), axis=(1, 2))


def strong(x):
    x = weak(x) + 0.5 * tf.random.normal(tf.shape(x))
    keep = tf.cast(tf.random.uniform((tf.shape(x)[0], 4, 4, 1)) > 0.25, tf.float32)
    return x * tf.repeat(tf.repeat(keep, SIDE // 4, axis=1), SIDE // 4, axis=2)


def network():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(CLASSES),
        ]
    )


class FixMatch(keras.Model):
    def __init__(self):
        super().__init__()
        self.online = network()
        self.average = network()
        self.average.set_weights(self.online.get_weights())
        self.average.trainable = False
        self.names = ("supervised", "unsupervised", "kept")
        self.means = [keras.metrics.Mean(name=n) for n in self.names]

    @property
    def metrics(self):
        return self.means

    def call(self, x, training=False):
        return self.average(x, training=False)

    def train_step(self, data):
        x, y = data
        known = tf.cast(y >= 0, tf.float32)
        pseudo = tf.nn.softmax(self.online(weak(x), training=False))
        confident = tf.cast(tf.reduce_max(pseudo, axis=-1) > THRESHOLD, tf.float32) * (1.0 - known)
        guess = tf.stop_gradient(tf.argmax(pseudo, axis=-1))
        with tf.GradientTape() as tape:
            rows = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(y, 0), self.online(weak(x), training=True))
            supervised = tf.reduce_sum(rows * known) / tf.maximum(tf.reduce_sum(known), 1.0)
            rows = tf.nn.sparse_softmax_cross_entropy_with_logits(guess, self.online(strong(x), training=True))
            unsupervised = tf.reduce_mean(rows * confident)
            loss = supervised + unsupervised
        variables = self.online.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        for slow, fast in zip(self.average.variables, self.online.variables):
            slow.assign(EMA * slow + (1.0 - EMA) * fast)
        for mean, v in zip(self.means, (supervised, unsupervised, tf.reduce_mean(confident))):
            mean.update_state(v)
        return {m.name: m.result() for m in self.means}


x, y = tiles(1200)
x_test, y_test = tiles(400)
x_lab, y_lab = x[:LABELLED], y[:LABELLED]
labelled = tf.data.Dataset.from_tensor_slices((x_lab, y_lab)).shuffle(LABELLED).repeat().batch(16)
blank = tf.data.Dataset.from_tensor_slices((x[LABELLED:], np.full(len(x) - LABELLED, -1, "int32"))).shuffle(1200).batch(64)
mixed = tf.data.Dataset.zip((labelled, blank)).map(
    lambda a, b: (tf.concat([a[0], b[0]], 0), tf.concat([a[1], b[1]], 0))
)

model = FixMatch()
model.compile(optimizer=keras.optimizers.Adam(3e-3))
for block in range(5):
    history = model.fit(mixed, epochs=2, verbose=0)
    last = {k: round(float(v[-1]), 3) for k, v in history.history.items()}
    acc = float((model.predict(x_test, verbose=0).argmax(-1) == y_test).mean())
    print(f"epoch {2 * (block + 1):2d}", last, "test accuracy of the average", round(acc, 3))
