"""Variational autoencoder over 16x16 tiles of blobs and stripes."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

LATENT = 4


def tiles(n, rng):
    yy, xx = np.mgrid[:16, :16]
    out = np.zeros((n, 16, 16, 1), "float32")
    for i in range(n):
        if rng.random() < 0.5:
            cy, cx, r = rng.uniform(4, 12), rng.uniform(4, 12), rng.uniform(2, 4)
            out[i, ..., 0] = (yy - cy) ** 2 + (xx - cx) ** 2 < r * r
        else:
            a, w = rng.uniform(0, np.pi), rng.uniform(1.2, 2.5)
            d = (yy - 8) * np.cos(a) - (xx - 8) * np.sin(a)
            out[i, ..., 0] = np.abs(d) < w
    return out


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_generator = keras.random.SeedGenerator(7)

    def call(self, mean, log_var):
        eps = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_var) * eps


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.Sequential([
            layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
            layers.Flatten(), layers.Dense(64, activation="relu")])
        self.to_mean, self.to_log_var = layers.Dense(LATENT), layers.Dense(LATENT)
        self.sample = Sampling()
        self.dec = keras.Sequential([
            layers.Dense(64, activation="relu"), layers.Dense(4 * 4 * 32, activation="relu"),
            layers.Reshape((4, 4, 32)),
            layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")])
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        h = self.enc(x)
        mean, log_var = self.to_mean(h), self.to_log_var(h)
        return self.dec(self.sample(mean, log_var)), mean, log_var

    def train_step(self, x):
        with tf.GradientTape() as tape:
            y, mean, log_var = self(x, training=True)
            recon = tf.reduce_mean(keras.losses.binary_crossentropy(x, y))
            kl = -0.5 * (1 + log_var - tf.square(mean) - tf.exp(log_var))
            kl = tf.reduce_mean(tf.reduce_sum(kl, axis=1))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        for k, v in (("loss", loss), ("recon", recon), ("kl", kl)):
            self.trackers[k].update_state(v)
        return {k: m.result() for k, m in self.trackers.items()}


keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)
x_train, x_test = tiles(4000, rng), tiles(400, rng)
vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(1e-3))
vae.fit(x_train, epochs=15, batch_size=64, verbose=2)

mean = vae.to_mean(vae.enc(x_test))
back = ops.convert_to_numpy(vae.dec(mean))
print("pixel error of the reconstruction %.4f" % np.mean((back - x_test) ** 2))
print("pixel error of the mean tile     %.4f" % np.mean((x_train.mean(0) - x_test) ** 2))
print("spread of the latent means", np.std(ops.convert_to_numpy(mean), 0).round(3))
