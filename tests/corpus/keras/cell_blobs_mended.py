"""Variational autoencoder for little microscope patches."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

PX = 16
LATENT = 6


def patches(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[:PX, :PX]
    out = np.empty((n, PX, PX, 1), "float32")
    for i in range(n):
        cy, cx = rng.uniform(4, 12, 2)
        ry, rx = rng.uniform(1.8, 4.5, 2)
        d = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2
        out[i, ..., 0] = 1 / (1 + np.exp(6 * (d - 1)))
    return out


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_gen = keras.random.SeedGenerator(7)

    def call(self, inputs):
        mu, logvar = inputs
        eps = keras.random.normal(ops.shape(mu), seed=self.seed_gen)
        return mu + ops.exp(0.5 * logvar) * eps


def build_encoder():
    inp = keras.Input((PX, PX, 1))
    h = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inp)
    h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Dense(64, activation="relu")(layers.Flatten()(h))
    mu, logvar = layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)
    return keras.Model(inp, [mu, logvar, Sampling()([mu, logvar])])


def build_decoder():
    inp = keras.Input((LATENT,))
    h = layers.Dense(4 * 4 * 32, activation="relu")(inp)
    h = layers.Reshape((4, 4, 32))(h)
    h = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(h)
    return keras.Model(inp, h)


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = build_encoder(), build_decoder()
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        mu, _, _ = self.encoder(x)
        return self.decoder(mu)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mu, logvar, z = self.encoder(x, training=True)
            recon = self.decoder(z, training=True)
            pixel = keras.losses.binary_crossentropy(x, recon)
            recon_loss = tf.reduce_mean(tf.reduce_sum(pixel, axis=(1, 2)))
            kl = -0.5 * (1 + logvar - tf.square(mu) - tf.exp(logvar))
            kl_loss = tf.reduce_mean(tf.reduce_sum(kl, axis=1))
            loss = recon_loss + kl_loss
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        for k, v in zip(("loss", "recon", "kl"), (loss, recon_loss, kl_loss)):
            self.trackers[k].update_state(v)
        return {k: t.result() for k, t in self.trackers.items()}


if __name__ == "__main__":
    keras.utils.set_random_seed(2)
    train, test = patches(3000, 0), patches(300, 1)
    vae = VAE()
    vae.compile(optimizer=keras.optimizers.Adam(2e-3))
    vae.fit(train, epochs=15, batch_size=64, verbose=2)
    rec = vae.predict(test, verbose=0)
    mse = np.mean((rec - test) ** 2)
    base = np.mean((train.mean(0) - test) ** 2)
    print(f"test reconstruction mse {mse:.4f} (mean image: {base:.4f})")
