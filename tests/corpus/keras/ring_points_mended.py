import os
os.environ["KERAS_BACKEND"] = "tensorflow"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)
NOISE = 8
CENTRES = np.stack([np.cos(np.arange(6) * np.pi / 3), np.sin(np.arange(6) * np.pi / 3)], 1).astype("float32") * 1.5


def real_points(n, rng):
    return (CENTRES[rng.integers(0, 6, n)] + rng.normal(0, 0.12, (n, 2))).astype("float32")


def mlp(n_in, n_out, width=64, name=None):
    return keras.Sequential([
        layers.Input((n_in,)),
        layers.Dense(width), layers.LeakyReLU(0.2),
        layers.Dense(width), layers.LeakyReLU(0.2),
        layers.Dense(n_out),
    ], name=name)


class RingGAN(keras.Model):
    def __init__(self):
        super().__init__()
        self.generator = mlp(NOISE, 2, name="generator")
        self.critic = mlp(2, 1, name="critic")
        self.d_track = keras.metrics.Mean(name="d_loss")
        self.g_track = keras.metrics.Mean(name="g_loss")

    def compile(self, d_opt, g_opt):
        super().compile(optimizer="sgd")
        self.d_opt, self.g_opt = d_opt, g_opt
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @property
    def metrics(self):
        return [self.d_track, self.g_track]

    def call(self, z):
        return self.generator(z)

    def train_step(self, real):
        n = tf.shape(real)[0]
        z = tf.random.normal((n, NOISE))
        with tf.GradientTape() as tape:
            fake = self.generator(z, training=True)
            on_real = self.critic(real, training=True)
            on_fake = self.critic(fake, training=True)
            d_loss = self.bce(tf.ones_like(on_real) * 0.9, on_real) + self.bce(tf.zeros_like(on_fake), on_fake)
        d_vars = self.critic.trainable_variables
        self.d_opt.apply_gradients(zip(tape.gradient(d_loss, d_vars), d_vars))

        z = tf.random.normal((n, NOISE))
        with tf.GradientTape() as tape:
            on_fake = self.critic(self.generator(z, training=True), training=True)
            g_loss = self.bce(tf.ones_like(on_fake), on_fake)
        g_vars = self.generator.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(g_loss, g_vars), g_vars))

        self.d_track.update_state(d_loss)
        self.g_track.update_state(g_loss)
        return {m.name: m.result() for m in self.metrics}


rng = np.random.default_rng(5)
points = real_points(12800, rng)
gan = RingGAN()
gan.compile(keras.optimizers.Adam(1e-3, beta_1=0.5), keras.optimizers.Adam(1e-3, beta_1=0.5))
gan(np.zeros((2, NOISE), "float32"))
gan.fit(points, batch_size=128, epochs=50, verbose=2)

made = gan.generator.predict(rng.normal(size=(3000, NOISE)).astype("float32"), verbose=0)
dist = np.linalg.norm(made[:, None] - CENTRES[None], axis=-1)
near = dist.min(1) < 0.4
counts = np.bincount(dist.argmin(1)[near], minlength=6)
print("share of points near a cluster: %.3f" % near.mean())
print("points per cluster:", counts.tolist())
print("mean distance to the nearest centre: %.3f (real data 0.15)" % dist.min(1).mean())
