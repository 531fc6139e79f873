"""Evaporation at a salt pan: a mixture density network (tf_keras) gives the whole distribution of tomorrow's crust thickness."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers

K = 4


def pan_days(n, rng):
    irradiance = rng.uniform(2000, 28000, n)          # kJ per square metre
    pressure = rng.normal(101300, 700, n)             # Pa
    brine = rng.uniform(1020, 1240, n)                # kg per cubic metre
    sun, rho = irradiance / 28000, (brine - 1020) / 220
    flooded = rng.random(n) < 0.35
    crust = np.where(flooded, 0.02 + 0.05 * rho, 0.1 + 0.3 * sun * rho) + rng.normal(0, 0.008 + 0.02 * sun * ~flooded, n)
    return np.stack([irradiance, pressure, brine], 1).astype("float32"), crust.astype("float32")


def log_density(params, y):
    logit, mu, raw = tf.split(params, 3, axis=-1)
    sigma = tf.nn.softplus(raw) + 1e-3
    comp = -0.5 * ((y[:, None] - mu) / sigma) ** 2 - tf.math.log(sigma) - 0.5 * np.log(2 * np.pi)
    return tf.reduce_logsumexp(tf.nn.log_softmax(logit) + comp, axis=-1)


class DensityNet(tf_keras.Model):
    def __init__(self, scaler):
        super().__init__()
        self.scaler = scaler
        self.body = [layers.Dense(64, activation="tanh") for _ in range(2)]
        self.out = layers.Dense(3 * K)
        self.nll = tf_keras.metrics.Mean(name="nll")

    @property
    def metrics(self):
        return [self.nll]

    def call(self, x):
        h = self.scaler(x)
        for layer in self.body:
            h = layer(h)
        return self.out(h)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(log_density(self(x, training=True), y))
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        self.nll.update_state(loss)
        return {"nll": self.nll.result()}

    def test_step(self, data):
        x, y = data
        self.nll.update_state(-log_density(self(x, training=False), y))
        return {"nll": self.nll.result()}


class Rows(tf_keras.utils.Sequence):
    def __init__(self, x, y, size, seed):
        super().__init__()
        self.x, self.y, self.size, self.rng = x, y, size, np.random.default_rng(seed)
        self.order = np.arange(len(x))

    def __len__(self):
        return len(self.x) // self.size

    def __getitem__(self, i):
        rows = self.order[i * self.size:(i + 1) * self.size]
        return self.x[rows], self.y[rows]

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


if __name__ == "__main__":
    tf_keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    (x, y), (x_test, y_test) = pan_days(4000, rng), pan_days(1000, rng)
    scaler = layers.Normalization()
    scaler.adapt(x)
    model = DensityNet(scaler)
    model.compile(optimizer=tf_keras.optimizers.Adam(4e-3))
    hist = model.fit(Rows(x, y, 100, 1), epochs=25, verbose=0).history
    print("nll per epoch", [round(v, 2) for v in hist["nll"]])
    flat = 0.5 * np.log(2 * np.pi * y.var()) + 0.5
    res = model.evaluate(x_test, y_test, batch_size=200, verbose=0)
    print(f"test nll {np.ravel(res)[0]:.3f}   one Gaussian for all days {flat:.3f}")
