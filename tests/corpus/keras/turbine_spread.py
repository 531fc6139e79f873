import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import math
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(12)


def power_curve(n, seed):
    rng = np.random.default_rng(seed)
    wind = rng.weibull(2.0, n) * 9
    direction = rng.uniform(0, 2 * np.pi, n)
    density = rng.normal(1.2, 0.04, n)
    mean = 1 / (1 + np.exp(-(wind * density / 1.2 - 9) / 1.3)) * (1 - 0.12 * np.cos(direction) ** 2)
    spread = 0.02 + 0.06 * np.exp(-0.5 * ((wind - 9) / 2.2) ** 2)
    power = mean + spread * rng.normal(size=n)
    X = np.stack([wind / 9 - 1, np.cos(direction), np.sin(direction), (density - 1.2) / 0.04], 1)
    return X.astype("float32"), power.astype("float32")[:, None]


class SpreadNet(keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = keras.layers.Dense(64, activation="swish")
        self.h2 = keras.layers.Dense(64, activation="swish")
        self.drop = keras.layers.Dropout(0.01)
        self.out = keras.layers.Dense(2)

    def call(self, x, training=False):
        h = self.drop(self.h2(self.h1(x)), training=training)
        mu, raw = tf.split(self.out(h), 2, axis=1)
        return mu, tf.nn.softplus(raw) + 1e-3


def nll(y, mu, sigma):
    return tf.reduce_mean(tf.math.log(sigma) + 0.5 * tf.square((y - mu) / sigma)) + 0.5 * math.log(2 * math.pi)


class Fitter:
    def __init__(self, net, accumulate=4):
        self.net, self.accumulate = net, accumulate
        self.opt = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(1e-2, 1400))

    def prepare(self, x):
        self.net(x)
        self.buffer = [tf.Variable(tf.zeros_like(v), trainable=False) for v in self.net.trainable_variables]

    @tf.function
    def micro(self, x, y):
        with tf.GradientTape() as tape:
            loss = nll(y, *self.net(x, training=True))
        for b, g in zip(self.buffer, tape.gradient(loss, self.net.trainable_variables)):
            b.assign_add(g / self.accumulate)
        return loss

    @tf.function
    def update(self):
        self.opt.apply_gradients(zip(self.buffer, self.net.trainable_variables))
        for b in self.buffer:
            b.assign(tf.zeros_like(b))

    def fit(self, ds, epochs):
        i = 0
        for epoch in range(epochs):
            losses = []
            for x, y in ds:
                losses.append(self.micro(x, y))
                i += 1
                if i % self.accumulate == 0:
                    self.update()
            if epoch % 5 == 0:
                print(f"epoch {epoch:2d} loss {np.mean(losses):.3f}")


def mc_predict(net, x, passes=30):
    draws = [net(x, training=True) for _ in range(passes)]
    mu = tf.stack([d[0] for d in draws])
    sigma = tf.stack([d[1] for d in draws])
    var = tf.reduce_mean(sigma ** 2, 0) + tf.math.reduce_variance(mu, 0)
    return tf.reduce_mean(mu, 0).numpy(), tf.sqrt(var).numpy()


X_tr, y_tr = power_curve(6000, 1)
X_te, y_te = power_curve(2000, 2)
fitter = Fitter(SpreadNet())
fitter.prepare(tf.constant(X_tr[:2]))
ds = tf.data.Dataset.from_tensor_slices((X_tr, y_tr)).cache().shuffle(6000).batch(32, drop_remainder=True)
fitter.fit(ds, 30)

mu, sigma = mc_predict(fitter.net, X_te)
inside = np.mean(np.abs(y_te - mu) < 1.645 * sigma)
flat = 0.5 * math.log(2 * math.pi) + math.log(y_tr.std()) + 0.5
print(f"constant Gaussian NLL {flat:.3f}   test NLL {float(nll(y_te, mu, sigma)):.3f}")
print(f"R2 {1 - np.mean((y_te - mu) ** 2) / y_te.var():.4f}   90% interval covers {inside:.3f}")
