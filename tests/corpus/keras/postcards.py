"""Small VAE on the sklearn digits; the KL weight climbs from 0 during the first half."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

keras.utils.set_random_seed(4)


class VAE(keras.Model):
    def __init__(self, latent=8):
        super().__init__()
        self.trunk = keras.Sequential([layers.Dense(128, activation="relu"), layers.Dense(64, activation="relu")])
        self.mu = layers.Dense(latent)
        self.log_var = layers.Dense(latent, kernel_initializer="zeros", bias_initializer="zeros")
        self.decoder = keras.Sequential([layers.Dense(64, activation="relu"), layers.Dense(128, activation="relu"),
                                         layers.Dense(64)])
        self.beta = self.add_weight(name="beta", shape=(), initializer="zeros", trainable=False)
        self.seed_gen = keras.random.SeedGenerator(17)
        self.trackers = [keras.metrics.Mean(name=n) for n in ("loss", "recon", "kl")]

    @property
    def metrics(self):
        return self.trackers

    def encode(self, x):
        h = self.trunk(x)
        return self.mu(h), self.log_var(h)

    def call(self, x, training=False):
        mu, lv = self.encode(x)
        z = mu
        if training:
            z = mu + ops.exp(0.5 * lv) * keras.random.normal(ops.shape(mu), seed=self.seed_gen)
        return self.decoder(z), mu, lv

    def _terms(self, x, training):
        logits, mu, lv = self(x, training=training)
        # nats per picture: summed over the 64 pixels, then averaged over the rows
        recon = tf.reduce_mean(tf.reduce_sum(
            tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=1))
        kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + lv - mu ** 2 - tf.exp(lv), axis=1))
        return recon, kl

    def _log(self, *values):
        for t, v in zip(self.trackers, values):
            t.update_state(v)
        return {t.name: t.result() for t in self.trackers}

    def train_step(self, x):
        with tf.GradientTape() as tape:
            recon, kl = self._terms(x, True)
            loss = recon + self.beta.value * kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        return self._log(loss, recon, kl)

    def test_step(self, x):
        recon, kl = self._terms(x, False)
        return self._log(recon + kl, recon, kl)


class BetaRamp(keras.callbacks.Callback):
    def __init__(self, ramp_epochs):
        super().__init__()
        self.ramp_epochs = ramp_epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta.assign(min(1.0, epoch / self.ramp_epochs))


X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
order = np.random.default_rng(0).permutation(len(X))
tr, te = order[:1400], order[1400:]

vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(X[tr], validation_data=(X[te],), batch_size=50, epochs=40, verbose=2, callbacks=[BetaRamp(20)])

codes = vae.encode(X)[0].numpy()
probe = LogisticRegression(max_iter=2000).fit(codes[tr], y[tr])
print("linear probe on 8 latents:", round(probe.score(codes[te], y[te]), 3))
print("spread of each latent:", codes[te].std(0).round(2))
