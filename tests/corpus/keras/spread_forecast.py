"""Mean and spread of a noisy curve, learned together with an own train_step."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(43)
HALF_LOG_TWO_PI = 0.9189385


def observe(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, (n, 1))
    spread = 0.02 + 0.03 * (x + 3) / 2
    y = 0.5 * np.sin(2 * x) + 0.1 * x + spread * rng.normal(size=x.shape)
    return x.astype("float32"), y.astype("float32")


def gaussian_nll(y, mean, log_sigma):
    z = (y - mean) * tf.exp(-log_sigma)
    return tf.reduce_mean(0.5 * tf.square(z) + log_sigma + HALF_LOG_TWO_PI)


class SpreadNet(keras.Model):
    def __init__(self, width=64):
        super().__init__()
        self.trunk = keras.Sequential(
            [layers.Dense(width, activation="tanh") for _ in range(2)]
        )
        self.mean_head = layers.Dense(1)
        self.sigma_head = layers.Dense(1, kernel_initializer="zeros")
        self.tracker = keras.metrics.Mean(name="nll")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x, training=False):
        h = self.trunk(x, training=training)
        return self.mean_head(h), tf.clip_by_value(self.sigma_head(h), -6.0, 3.0)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            mean, log_sigma = self(x, training=True)
            loss = gaussian_nll(y, mean, log_sigma)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"nll": self.tracker.result()}

    def test_step(self, data):
        x, y = data
        mean, log_sigma = self(x, training=False)
        self.tracker.update_state(gaussian_nll(y, mean, log_sigma))
        return {"nll": self.tracker.result()}


x_tr, y_tr = observe(3000, 1)
x_te, y_te = observe(800, 2)

net = SpreadNet()
net.compile(optimizer=keras.optimizers.Adam(3e-3, global_clipnorm=5.0))
net.fit(x_tr, y_tr, validation_data=(x_te, y_te), batch_size=64, epochs=40, verbose=0)
final = net.evaluate(x_te, y_te, verbose=0, return_dict=True)["nll"]

mean, log_sigma = (t.numpy() for t in net(x_te))
inside = np.abs(y_te - mean) < 1.96 * np.exp(log_sigma)
flat = gaussian_nll(y_te, y_tr.mean(), tf.math.log(y_tr.std()))
true_sigma = 0.02 + 0.03 * (x_te + 3) / 2
print("test nll", round(float(final), 3), " one fixed gaussian", round(float(flat), 3))
print("rmse", round(float(np.sqrt(np.mean((mean - y_te) ** 2))), 4), " std of y", round(float(y_te.std()), 4))
print("coverage of the 95% band", round(float(inside.mean()), 3))
print("correlation of sigma", round(float(np.corrcoef(np.exp(log_sigma)[:, 0], true_sigma[:, 0])[0, 1]), 3))
