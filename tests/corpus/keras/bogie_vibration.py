"""Wheel-set fault classification from axle-box accelerometer windows, plain GradientTape loop."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SEED, CLASSES, LENGTH = 21, 5, 128
BATCH, EPOCHS, LR = 64, 5, 0.05
keras.utils.set_random_seed(SEED)


def windows(n, rng):
    t = np.arange(LENGTH) / LENGTH
    y = rng.integers(0, CLASSES, n)
    x = np.empty((n, LENGTH), "float32")
    for i, c in enumerate(y):
        carrier = np.sin(2 * np.pi * (9 + 5 * c + rng.normal(0, 0.5)) * t + rng.uniform(0, 6.28))
        bursts = 1 + 0.9 * np.sin(2 * np.pi * (2 + (c * 2) % 5) * t + rng.uniform(0, 6.28))
        x[i] = carrier * bursts + rng.normal(0, 0.9, LENGTH)
    x = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    return x[..., None], y.astype("int32")


def conv_unit(h, filters, stride=1):
    h = layers.Conv1D(filters, 5, strides=stride, padding="same", use_bias=False)(h)
    h = layers.BatchNormalization(momentum=0.9)(h)
    return layers.ReLU()(h)


def build():
    inp = keras.Input((LENGTH, 1))
    h = inp
    for filters, repeats in [(16, 3), (24, 3), (32, 3)]:
        h = conv_unit(h, filters, stride=2)
        for _ in range(repeats):
            h = conv_unit(h, filters)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dropout(0.3)(h)
    return keras.Model(inp, layers.Dense(CLASSES)(h), name="bogie_net")


class Loop:
    def __init__(self, model, total_steps):
        self.model = model
        schedule = keras.optimizers.schedules.CosineDecay(LR, total_steps)
        self.opt = keras.optimizers.SGD(schedule, momentum=0.9, nesterov=True)
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.loss = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_batch(self, x, y):
        with tf.GradientTape() as tape:
            logits = self.model(x)
            loss = self.ce(y, logits)
        grads = tape.gradient(loss, self.model.trainable_weights)
        self.opt.apply_gradients(zip(grads, self.model.trainable_weights))
        self.loss.update_state(loss)

    @tf.function
    def test_batch(self, x, y):
        self.acc.update_state(y, self.model(x, training=False))

    def run(self, train_ds, test_ds):
        for epoch in range(EPOCHS):
            self.loss.reset_state()
            self.acc.reset_state()
            for x, y in train_ds:
                self.train_batch(x, y)
            for x, y in test_ds:
                self.test_batch(x, y)
            print(f"epoch {epoch + 1}  train loss {float(self.loss.result()):.3f}  test acc {float(self.acc.result()):.3f}")


rng = np.random.default_rng(SEED)
x_train, y_train = windows(3000, rng)
x_test, y_test = windows(800, rng)
train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(3000).batch(BATCH, drop_remainder=True)
test_ds = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(200)
Loop(build(), EPOCHS * (3000 // BATCH)).run(train_ds, test_ds)
