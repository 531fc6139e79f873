"""Variational autoencoder for 16x16 doodles."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

SIDE = 16


def doodle(rng):
    yy, xx = np.mgrid[:SIDE, :SIDE]
    cx, cy = rng.uniform(5, 10, 2)
    r = rng.uniform(3, 5)
    kind = rng.integers(0, 3)
    if kind == 0:
        d = np.abs(np.hypot(xx - cx, yy - cy) - r)
    elif kind == 1:
        d = np.minimum(np.abs(xx - cx), np.abs(yy - cy)) + 10 * (np.maximum(np.abs(xx - cx), np.abs(yy - cy)) > r)
    else:
        d = np.abs(np.maximum(np.abs(xx - cx), np.abs(yy - cy)) - r)
    return (d < 0.8).astype("float32"), kind


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(7)

    def call(self, inputs):
        mean, log_var = inputs
        eps = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_var) * eps


def make_encoder(latent):
    inputs = keras.Input((SIDE, SIDE, 1))
    h = layers.Flatten()(inputs)
    h = layers.Dense(128, activation="relu")(h)
    mean = layers.Dense(latent, name="mean")(h)
    log_var = layers.Dense(latent, name="log_var")(h)
    return keras.Model(inputs, [mean, log_var, Sampling()([mean, log_var])], name="encoder")


def make_decoder(latent):
    inputs = keras.Input((latent,))
    h = layers.Dense(128, activation="relu")(inputs)
    h = layers.Dense(SIDE * SIDE, activation="sigmoid")(h)
    return keras.Model(inputs, layers.Reshape((SIDE, SIDE, 1))(h), name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder = encoder, decoder
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "reconstruction", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(data, training=True)
            recon = self.decoder(z, training=True)
            rec = ops.mean(keras.losses.binary_crossentropy(data, recon))
            kl = -0.5 * (1 + log_var - ops.square(mean) - ops.exp(log_var))
            kl = ops.mean(ops.sum(kl, axis=1))
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        for key, value in (("loss", loss), ("reconstruction", rec), ("kl", kl)):
            self.trackers[key].update_state(value)
        return {k: m.result() for k, m in self.trackers.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--latent", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    keras.utils.set_random_seed(7)
    rng = np.random.default_rng(7)
    images = np.stack([doodle(rng)[0] for _ in range(2400)])[..., None]
    train, test = images[:2000], images[2000:]

    vae = VAE(make_encoder(args.latent), make_decoder(args.latent))
    vae.compile(optimizer=keras.optimizers.Adam(2e-3))
    vae.fit(train, epochs=args.epochs, batch_size=64, verbose=2)

    recon = vae.predict(test, verbose=0)
    print(f"test MSE {np.mean((recon - test) ** 2):.4f}  mean image {np.mean((train.mean(0) - test) ** 2):.4f}")


if __name__ == "__main__":
    main()
