"""Variational autoencoder for 8x8 digits, with its own train_step."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits

keras.utils.set_random_seed(11)
LATENT = 4

data = (load_digits().data / 16.0).astype("float32")
np.random.default_rng(0).shuffle(data)
x_train, x_test = data[:1500], data[1500:]


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_gen = keras.random.SeedGenerator(1)

    def call(self, z_mean, z_log_var):
        eps = keras.random.normal(ops.shape(z_mean), seed=self.seed_gen)
        return z_mean + ops.exp(0.5 * z_log_var) * eps


def build_encoder():
    i = keras.Input((64,))
    h = layers.Dense(128, activation="relu")(i)
    h = layers.Dense(64, activation="relu")(h)
    mu = layers.Dense(LATENT, name="z_mean")(h)
    lv = layers.Dense(LATENT, name="z_log_var")(h)
    return keras.Model(i, [mu, lv, Sampling()(mu, lv)], name="encoder")


def build_decoder():
    i = keras.Input((LATENT,))
    h = layers.Dense(64, activation="relu")(i)
    h = layers.Dense(128, activation="relu")(h)
    return keras.Model(i, layers.Dense(64, activation="sigmoid")(h), name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kw):
        super().__init__(**kw)
        self.encoder, self.decoder = encoder, decoder
        self.total_tracker = keras.metrics.Mean(name="loss")
        self.rec_tracker = keras.metrics.Mean(name="rec")
        self.kl_tracker = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total_tracker, self.rec_tracker, self.kl_tracker]

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mu, lv, z = self.encoder(x, training=True)
            x_hat = self.decoder(z, training=True)
            rec = ops.mean(keras.losses.binary_crossentropy(x, x_hat))
            kl = -0.5 * ops.mean(ops.sum(1 + lv - ops.square(mu) - ops.exp(lv), axis=1))
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_tracker.update_state(loss)
        self.rec_tracker.update_state(rec)
        self.kl_tracker.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


vae = VAE(build_encoder(), build_decoder())
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(x_train, epochs=60, batch_size=64, verbose=2)

recon = vae.predict(x_test, verbose=0)
print("reconstruction mse on test:", float(np.mean((recon - x_test) ** 2)))
print("mse of the mean image     :", float(np.mean((x_train.mean(0) - x_test) ** 2)))
print("std of z_mean per latent  :", vae.encoder.predict(x_test, verbose=0)[0].std(0))
