"""Probabilistic regression: the net gives mean and spread of the power of a wind turbine."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)


def turbine(n):
    wind = rng.gamma(4.0, 2.0, n)
    direction = rng.uniform(0, 2 * np.pi, n)
    temp = rng.normal(10, 6, n)
    density = 1.0 - 0.003 * (temp - 10)
    power = density / (1 + np.exp(-(wind - 8.0)))
    sigma = 0.004 + 0.03 * np.exp(-((wind - 8) ** 2) / 6)
    x = np.stack([(wind - 8) / 4, np.sin(direction), np.cos(direction), (temp - 10) / 6], 1)
    return x.astype("float32"), (power + rng.normal(0, sigma)).astype("float32"), sigma


x_train, y_train, _ = turbine(8000)
x_test, y_test, sigma_test = turbine(2000)

BATCH = 128


def batches():
    while True:
        pick = rng.integers(0, len(x_train), BATCH)
        yield x_train[pick], y_train[pick, None]


def nll(y_true, params):
    mu, log_sigma = params[:, :1], params[:, 1:]
    log_sigma = tf.clip_by_value(log_sigma, -7.0, 3.0)
    return tf.reduce_mean(log_sigma + 0.5 * tf.square((y_true - mu) / tf.exp(log_sigma)))


class MuSigma(keras.Model):
    def __init__(self):
        super().__init__()
        self.d1 = layers.Dense(64, activation="swish")
        self.d2 = layers.Dense(64, activation="swish")
        self.mu = layers.Dense(1)
        self.log_sigma = layers.Dense(1, kernel_initializer="zeros")

    def call(self, x):
        h = self.d2(self.d1(x))
        return tf.concat([self.mu(h), self.log_sigma(h)], axis=-1)


model = MuSigma()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=nll)
model.fit(batches(), steps_per_epoch=len(x_train) // BATCH, epochs=25,
          validation_data=(x_test, y_test[:, None]), verbose=2)

p = model.predict(x_test, verbose=0)
mu, sigma = p[:, 0], np.exp(p[:, 1])
inside = np.mean(np.abs(y_test - mu) < 1.96 * sigma)
print("test nll           : %.3f" % float(nll(y_test[:, None], tf.constant(p))))
print("rmse of the mean   : %.4f  (std of y %.4f)" % (np.sqrt(np.mean((mu - y_test) ** 2)), y_test.std()))
print("coverage of 95 %% band: %.3f" % inside)
print("corr of sigma with the true one: %.3f" % np.corrcoef(sigma, sigma_test)[0, 1])
