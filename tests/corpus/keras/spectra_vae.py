"""VAE on synthetic emission spectra with a slowly rising KL weight."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

BINS, LATENT = 48, 4
os.makedirs("out", exist_ok=True)


def spectra(n, seed):
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, BINS)
    centre = rng.uniform(0.2, 0.8, (n, 1))
    width = rng.uniform(0.04, 0.10, (n, 1))
    ratio = rng.uniform(0.2, 1.0, (n, 1))
    main_line = np.exp(-0.5 * ((grid - centre) / width) ** 2)
    side_line = ratio * np.exp(-0.5 * ((grid - centre - 0.18) / 0.04) ** 2)
    return (main_line + side_line + rng.normal(0, 0.05, (n, BINS))).astype("float32")


class KLWarmup(keras.callbacks.Callback):
    """Linear from 0 to 1; the weight is a variable, so the compiled step sees it."""

    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta.assign(min(1.0, epoch / self.epochs))


class VAE(keras.Model):
    def __init__(self, noise=0.1):
        super().__init__()
        self.noise_var = noise ** 2
        self.encoder = keras.Sequential(
            [layers.Dense(64, activation="tanh"), layers.Dense(64, activation="tanh"),
             layers.Dense(2 * LATENT)]
        )
        self.decoder = keras.Sequential(
            [layers.Dense(64, activation="tanh"), layers.Dense(64, activation="tanh"),
             layers.Dense(BINS)]
        )
        self.seed_gen = keras.random.SeedGenerator(5)
        self.beta = self.add_weight(
            shape=(), initializer="zeros", trainable=False, name="beta"
        )
        self.loss_mean = keras.metrics.Mean(name="loss")
        self.rec_mean = keras.metrics.Mean(name="rec")
        self.kl_mean = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.loss_mean, self.rec_mean, self.kl_mean]

    def terms(self, x, sample=True):
        mu, logvar = tf.split(self.encoder(x), 2, axis=-1)
        logvar = tf.clip_by_value(logvar, -10.0, 4.0)
        z = mu
        if sample:
            z = mu + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mu), seed=self.seed_gen)
        rec = 0.5 * tf.reduce_sum(tf.square(self.decoder(z) - x), axis=-1) / self.noise_var
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mu) - tf.exp(logvar), axis=-1)
        return tf.reduce_mean(rec), tf.reduce_mean(kl)

    def call(self, x):
        mu, _ = tf.split(self.encoder(x), 2, axis=-1)
        return self.decoder(mu)

    def _log(self, rec, kl, beta):
        self.loss_mean.update_state(rec + beta * kl)
        self.rec_mean.update_state(rec)
        self.kl_mean.update_state(kl)
        return {m.name: m.result() for m in self.metrics}

    def train_step(self, x):
        with tf.GradientTape() as tape:
            rec, kl = self.terms(x)
            loss = rec + self.beta * kl
        weights = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return self._log(rec, kl, self.beta)

    def test_step(self, x):
        return self._log(*self.terms(x), 1.0)


if __name__ == "__main__":
    keras.utils.set_random_seed(5)
    train, valid, test = spectra(3000, 1), spectra(400, 2), spectra(600, 3)
    vae = VAE()
    vae(train[:2])
    vae.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=50.0))
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(3000, seed=1).batch(64).prefetch(1)
    val_ds = tf.data.Dataset.from_tensor_slices(valid).batch(200)
    vae.fit(ds, validation_data=val_ds, epochs=24, callbacks=[KLWarmup(12)], verbose=2)

    mse = float(np.mean((vae.predict(test, verbose=0) - test) ** 2))
    flat = float(np.mean((train.mean(0) - test) ** 2))
    print(f"test reconstruction MSE {mse:.4f} (mean spectrum {flat:.4f}, noise floor 0.0025)")
    _, kl = vae.terms(tf.constant(test))
    print(f"test KL {float(kl):.2f} nats over {LATENT} latent dimensions")
    vae.save_weights("out/vae.weights.h5")
