"""Variational autoencoder over half-hourly household load profiles."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(11)
rng = np.random.default_rng(11)

SLOTS, LATENT = 48, 4


def profiles(n):
    t = np.arange(SLOTS) / 2.0
    morning = rng.normal(size=(n, 1)) * np.exp(-((t - 7.5) / 2.0) ** 2)
    evening = rng.normal(size=(n, 1)) * np.exp(-((t - 19) / 2.5) ** 2)
    tilt = rng.normal(size=(n, 1)) * np.cos(2 * np.pi * t / 24)
    p = 2 * morning + 2 * evening + tilt + 0.1 * rng.normal(size=(n, SLOTS))
    return p.astype("float32")


class LoadVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(2 * LATENT)])
        self.dec = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(SLOTS)])
        self.seed = keras.random.SeedGenerator(5)
        self.meters = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.meters.values())

    def encode(self, x):
        mu, logvar = tf.split(self.enc(x), 2, axis=-1)
        return mu, logvar

    def call(self, x):
        return self.dec(self.encode(x)[0])

    def elbo_terms(self, x):
        mu, logvar = self.encode(x)
        z = mu + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mu), seed=self.seed)
        recon = tf.reduce_sum(tf.square(x - self.dec(z)), axis=1)
        kl = -0.5 * tf.reduce_sum(1.0 + logvar - tf.square(mu) - tf.exp(logvar), axis=1)
        return tf.reduce_mean(recon), tf.reduce_mean(kl)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            recon, kl = self.elbo_terms(x)
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for k, v in zip(("loss", "recon", "kl"), (loss, recon, kl)):
            self.meters[k].update_state(v)
        return {k: m.result() for k, m in self.meters.items()}


train, test = profiles(6000), profiles(1000)
vae = LoadVAE()
vae(train[:2])
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(train, epochs=15, batch_size=64, verbose=2)

rebuilt = vae.predict(test, verbose=0)
mse = np.mean((rebuilt - test) ** 2)
print(f"test mse {mse:.4f}  (variance of data {test.var():.4f})  explained {1 - mse / test.var():.3f}")
mu, _ = vae.encode(test)
print("spread of the latent means", np.round(mu.numpy().std(0), 3))
