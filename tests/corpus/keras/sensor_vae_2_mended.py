import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import keras
from keras import layers, ops
import tensorflow as tf

keras.utils.set_random_seed(5)
LATENT = 4
SIDE = 16


def blobs(n, rng):
    """16x16 images: one gaussian bump with position, width and tilt."""
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    cx, cy = rng.uniform(4, 12, (2, n, 1, 1))
    sx, sy = rng.uniform(1.2, 3.0, (2, n, 1, 1))
    img = np.exp(-((xx - cx) ** 2) / (2 * sx**2) - ((yy - cy) ** 2) / (2 * sy**2))
    img = img + rng.normal(0, 0.03, img.shape)
    return np.clip(img, 0, 1).astype("float32")[..., None]


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_generator = keras.random.SeedGenerator(1)

    def call(self, inputs):
        mean, logvar = inputs
        eps = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * logvar) * eps


def make_encoder():
    inp = keras.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inp)
    x = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Dense(64, activation="relu")(layers.Flatten()(x))
    mean = layers.Dense(LATENT)(x)
    logvar = layers.Dense(LATENT)(x)
    return keras.Model(inp, [mean, logvar, Sampling()([mean, logvar])], name="encoder")


def make_decoder():
    z = keras.Input((LATENT,))
    x = layers.Dense(64, activation="relu")(z)
    x = layers.Dense(4 * 4 * 32, activation="relu")(x)
    x = layers.Reshape((4, 4, 32))(x)
    x = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(x)
    return keras.Model(z, x, name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x, training=False):
        mean, _, _ = self.encoder(x, training=training)
        return self.decoder(mean, training=training)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, logvar, z = self.encoder(x, training=True)
            out = self.decoder(z, training=True)
            bce = keras.losses.binary_crossentropy(x, out)
            recon = ops.mean(ops.sum(bce, axis=(1, 2)))
            kl = -0.5 * (1 + logvar - ops.square(mean) - ops.exp(logvar))
            kl = ops.mean(ops.sum(kl, axis=1))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply(grads, self.trainable_weights)
        for k, v in (("loss", loss), ("recon", recon), ("kl", kl)):
            self.trackers[k].update_state(v)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(0)
x_train, x_test = blobs(4000, rng), blobs(500, rng)

vae = VAE(make_encoder(), make_decoder())
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(x_train, epochs=14, batch_size=64, verbose=2)

recon = vae.predict(x_test, verbose=0)
mse = float(np.mean((recon - x_test) ** 2))
base = float(np.mean((x_train.mean(0) - x_test) ** 2))
mean, logvar, _ = vae.encoder.predict(x_test, verbose=0)
print("test mse %.5f  mean-image mse %.5f  explained %.3f" % (mse, base, 1 - mse / base))
print("latent std over test set", np.round(mean.std(0), 3))
