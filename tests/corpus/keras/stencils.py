"""Convolutional VAE on stencil cut-outs; how much do the codes keep?"""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

SEED = 8
SIDE = 16
LATENT = 6
keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)


def stencils(n):
    out = np.zeros((n, SIDE, SIDE, 1), dtype="float32")
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    for i in range(n):
        cy, cx = rng.uniform(4, 12, 2)
        r = rng.uniform(2, 4.5)
        if rng.random() < 0.5:
            hole = (xx - cx) ** 2 + (yy - cy) ** 2 < r**2
        else:
            hole = (np.abs(xx - cx) < r) & (np.abs(yy - cy) < r * 0.6)
        out[i, hole, 0] = 1.0
    return out


def make_encoder():
    inp = keras.Input((SIDE, SIDE, 1))
    h = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inp)
    h = layers.Conv2D(32, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Flatten()(h)
    h = layers.Dense(64, activation="relu")(h)
    return keras.Model(inp, [layers.Dense(LATENT, name="mean")(h), layers.Dense(LATENT, name="log_var")(h)])


def make_decoder():
    inp = keras.Input((LATENT,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(4 * 4 * 32, activation="relu")(h)
    h = layers.Reshape((4, 4, 32))(h)
    h = layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu")(h)
    h = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(h)
    return keras.Model(inp, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h))


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = make_encoder()
        self.decoder = make_decoder()
        self.trackers = [keras.metrics.Mean(name=n) for n in ("loss", "rec", "kl")]

    @property
    def metrics(self):
        return self.trackers

    def call(self, x):
        mean, _ = self.encoder(x)
        return self.decoder(mean)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = self.encoder(x, training=True)
            z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
            out = self.decoder(z, training=True)
            per_pixel = keras.losses.binary_crossentropy(x, out)
            rec = tf.reduce_mean(per_pixel)
            kl = -0.5 * tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=-1)
            kl = tf.reduce_mean(kl)
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for tracker, v in zip(self.trackers, (loss, rec, kl)):
            tracker.update_state(v)
        return {m.name: m.result() for m in self.metrics}


train, test = stencils(2400), stencils(400)
vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
data = tf.data.Dataset.from_tensor_slices(train).shuffle(2400, seed=SEED).batch(48)
vae.fit(data, epochs=12, verbose=2)

rebuilt = vae.predict(test, verbose=0)
error = float(np.mean((rebuilt - test) ** 2))
baseline = float(np.mean((train.mean(axis=0) - test) ** 2))
codes = vae.encoder.predict(test, verbose=0)[0]
print(f"squared error {error:.4f} (mean image {baseline:.4f}), active units {(codes.var(axis=0) > 0.1).sum()}/{LATENT}")
