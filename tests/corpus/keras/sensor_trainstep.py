"""Fault classes of a rotating machine from vibration snippets; own train_step."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(31)
CLASSES = ["ok", "unbalance", "bearing", "gear"]


def snippets(n, seed, length=128):
    rng = np.random.default_rng(seed)
    t = np.arange(length) / length
    y = rng.integers(0, len(CLASSES), n)
    freq = np.array([0.0, 5.0, 17.0, 29.0])[y][:, None] + rng.normal(0, 0.5, (n, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, 1))
    wave = np.where(y[:, None] > 0, np.sin(2 * np.pi * freq * t + phase), 0.0)
    gain = rng.uniform(0.6, 1.4, (n, 1))
    x = gain * (0.8 * wave + rng.normal(0, 0.6, (n, length)))
    return (0.02 * x).astype("float32")[..., None], y.astype("int64")


def conv_block(x, filters, kernel):
    x = layers.Conv1D(filters, kernel, strides=2, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization(momentum=0.9)(x)
    return layers.Activation("relu")(x)


class VibrationNet(keras.Model):
    def __init__(self, inputs, outputs):
        super().__init__(inputs=inputs, outputs=outputs)
        self.loss_avg = keras.metrics.Mean(name="loss")
        self.acc = keras.metrics.SparseCategoricalAccuracy(name="acc")
        self.ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @property
    def metrics(self):
        return [self.loss_avg, self.acc]

    def _report(self, loss, y, logits):
        self.loss_avg.update_state(loss)
        self.acc.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x)
            loss = self.ce(y, logits)
        grads = tape.gradient(loss, self.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return self._report(loss, y, logits)

    def test_step(self, data):
        x, y = data
        logits = self(x, training=False)
        return self._report(self.ce(y, logits), y, logits)


def build():
    inp = keras.Input((128, 1))
    h = inp
    for filters, kernel in [(16, 9), (24, 7), (32, 5), (32, 5), (48, 3)]:
        h = conv_block(h, filters, kernel)
    h = layers.GlobalAveragePooling1D()(h)
    return VibrationNet(inp, layers.Dense(len(CLASSES))(h))


x_tr, y_tr = snippets(1500, 1)
x_te, y_te = snippets(500, 2)

net = build()
net.compile(optimizer=keras.optimizers.SGD(0.02, momentum=0.9))
net.fit(x_tr, y_tr, validation_data=(x_te, y_te), batch_size=32, epochs=10, verbose=2)
out = net.evaluate(x_te, y_te, verbose=0, return_dict=True)
print("chance", 1 / len(CLASSES))
print("test loss %.3f  test accuracy %.3f" % (out["loss"], out["acc"]))
