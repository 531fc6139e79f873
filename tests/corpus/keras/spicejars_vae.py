"""VAE on near-infrared spectra of ground spices; the latent code is then probed for the spice."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.linear_model import LogisticRegression

BANDS, LATENT = 64, 4
keras.utils.set_random_seed(17)
rng = np.random.default_rng(17)


def spectra(n):
    spice = rng.integers(0, 5, n)
    grid = np.linspace(0, 1, BANDS)
    centre = np.array([0.2, 0.35, 0.5, 0.65, 0.8])[spice] + rng.normal(0, 0.02, n)
    moisture = rng.uniform(0.3, 1.0, n)
    x = np.exp(-((grid - centre[:, None]) / 0.08) ** 2)
    x += moisture[:, None] * np.exp(-((grid - 0.92) / 0.05) ** 2)
    return (x + rng.normal(0, 0.05, x.shape)).astype("float32"), spice


class Sampling(layers.Layer):
    def call(self, stats):
        mean, log_var = stats
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))


class SpectraVAE(keras.Model):
    def __init__(self):
        super().__init__()
        inp = keras.Input((BANDS,))
        h = layers.Dense(64, activation="relu")(inp)
        mean, log_var = layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)
        self.encoder = keras.Model(inp, [mean, log_var, Sampling()([mean, log_var])])
        self.decoder = keras.Sequential([keras.Input((LATENT,)), layers.Dense(64, activation="relu"),
                                         layers.Dense(BANDS)])
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(x, training=True)
            recon = tf.reduce_mean(tf.square(x - self.decoder(z, training=True)))
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1)
            kl = tf.reduce_mean(kl)
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for name, value in (("loss", loss), ("recon", recon), ("kl", kl)):
            self.trackers[name].update_state(value)
        return {k: m.result() for k, m in self.trackers.items()}


x, spice = spectra(3000)
x = (x - x.mean(0)) / x.std(0)
train, test = slice(0, 2400), slice(2400, None)
vae = SpectraVAE()
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(x[train], epochs=25, batch_size=64, verbose=2)

codes = vae.encoder.predict(x, verbose=0)[0]
probe = LogisticRegression(max_iter=500).fit(codes[train], spice[train])
error = np.mean((vae.predict(x[test], verbose=0) - x[test]) ** 2)
print(f"reconstruction mse {error:.3f}  probe accuracy {probe.score(codes[test], spice[test]):.3f}")
