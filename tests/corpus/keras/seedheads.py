import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(31)
SIDE, LATENT = 16, 4


def discs(n, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    cy, cx = rng.uniform(4, 12, (2, n, 1, 1))
    r = rng.uniform(2, 5, (n, 1, 1))
    return (((yy - cy) ** 2 + (xx - cx) ** 2) < r ** 2).astype("float32")[..., None]


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(31)

    def call(self, inputs):
        mean, log_var = inputs
        return mean + keras.ops.exp(0.5 * log_var) * keras.random.normal(keras.ops.shape(mean), seed=self.seed_generator)


class VAE(keras.Model):
    def __init__(self, warmup_steps):
        super().__init__()
        inp = keras.Input((SIDE, SIDE, 1))
        h = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inp)
        h = layers.Dense(64, activation="relu")(layers.Flatten()(h))
        mean, log_var = layers.Dense(LATENT)(h), layers.Dense(LATENT)(h)
        self.encoder = keras.Model(inp, [mean, log_var, Sampling()([mean, log_var])])
        z = keras.Input((LATENT,))
        h = layers.Dense(8 * 8 * 16, activation="relu")(z)
        h = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(layers.Reshape((8, 8, 16))(h))
        self.decoder = keras.Model(z, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h))
        self.warmup_steps = warmup_steps
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def terms(self, x, training):
        mean, log_var, z = self.encoder(x, training=training)
        out = self.decoder(z, training=training)
        recon = tf.reduce_mean(tf.reduce_sum(keras.losses.binary_crossentropy(x, out), axis=(1, 2)))
        kl = tf.reduce_mean(-0.5 * tf.reduce_sum(1 + log_var - mean ** 2 - tf.exp(log_var), axis=1))
        return recon, kl

    def train_step(self, x):
        beta = tf.minimum(1.0, tf.cast(self.optimizer.iterations, tf.float32) / self.warmup_steps)
        with tf.GradientTape() as tape:
            recon, kl = self.terms(x, True)
            loss = recon + beta * kl
        self.optimizer.apply(tape.gradient(loss, self.trainable_weights), self.trainable_weights)
        for k, v in (("loss", loss), ("recon", recon), ("kl", kl)):
            self.trackers[k].update_state(v)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(31)
x_train, x_test = discs(1600, rng), discs(200, rng)
vae = VAE(warmup_steps=150)
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(x_train, epochs=15, batch_size=64, verbose=2)

mean, _, _ = vae.encoder.predict(x_test, verbose=0)
rebuilt = vae.decoder.predict(mean, verbose=0)
base = np.abs(x_test - x_train.mean(0)).mean()
print(f"test pixel error {np.abs(x_test - rebuilt).mean():.4f}  (mean picture {base:.4f})")
print("pixels on the right side of 0.5:", ((rebuilt > 0.5) == (x_test > 0.5)).mean())
