"""Variational autoencoder for 8x8 digits with its own train_step and a warmed-up KL weight."""
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from sklearn.datasets import load_digits


@dataclass
class Settings:
    latent: int = 6
    hidden: int = 96
    batch: int = 32
    epochs: int = 30
    rate: float = 2e-3
    warm_epochs: int = 10
    seed: int = 5


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1)

    def call(self, inputs):
        mean, log_var = inputs
        noise = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_var) * noise


def make_encoder(cfg):
    image = keras.Input((64,))
    h = layers.Dense(cfg.hidden, activation="relu")(image)
    h = layers.Dense(cfg.hidden, activation="relu")(h)
    mean = layers.Dense(cfg.latent, name="mean")(h)
    log_var = layers.Dense(cfg.latent, name="log_var", kernel_initializer="zeros")(h)
    return keras.Model(image, [mean, log_var, Sampling()([mean, log_var])], name="encoder")


def make_decoder(cfg):
    z = keras.Input((cfg.latent,))
    h = layers.Dense(cfg.hidden, activation="relu")(z)
    h = layers.Dense(cfg.hidden, activation="relu")(h)
    return keras.Model(z, layers.Dense(64)(h), name="decoder")


class VAE(keras.Model):
    def __init__(self, cfg, **kwargs):
        super().__init__(**kwargs)
        self.encoder, self.decoder = make_encoder(cfg), make_decoder(cfg)
        self.kl_weight = self.add_weight(shape=(), initializer="zeros", trainable=False, name="kl_weight")
        self.trackers = {name: keras.metrics.Mean(name=name) for name in ("loss", "pixels", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, images):
        return self.decoder(self.encoder(images)[0])

    def terms(self, images):
        mean, log_var, z = self.encoder(images)
        logits = self.decoder(z)
        pixels = tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=logits)
        pixels = ops.mean(ops.sum(pixels, axis=-1))
        kl = -0.5 * ops.mean(ops.sum(1 + log_var - ops.square(mean) - ops.exp(log_var), axis=-1))
        return pixels + self.kl_weight * kl, pixels, kl

    def record(self, *values):
        for tracker, value in zip(self.trackers.values(), values):
            tracker.update_state(value)
        return {m.name: m.result() for m in self.metrics}

    def train_step(self, images):
        with tf.GradientTape() as tape:
            loss, pixels, kl = self.terms(images)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return self.record(loss, pixels, kl)

    def test_step(self, images):
        return self.record(*self.terms(images))


class WarmKL(keras.callbacks.Callback):
    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.kl_weight.assign(min(1.0, epoch / self.epochs))


def main(cfg=Settings()):
    keras.utils.set_random_seed(cfg.seed)
    images = (load_digits().data / 16.0).astype("float32")
    images = images[np.random.default_rng(cfg.seed).permutation(len(images))]
    train, test = images[:1500], images[1500:]

    vae = VAE(cfg)
    vae.compile(optimizer=keras.optimizers.Adam(cfg.rate))
    stream = tf.data.Dataset.from_tensor_slices(train).shuffle(1500, seed=cfg.seed).batch(cfg.batch)
    vae.fit(stream, epochs=cfg.epochs, callbacks=[WarmKL(cfg.warm_epochs)], verbose=2,
            validation_data=tf.data.Dataset.from_tensor_slices(test).batch(100))

    rebuilt = tf.sigmoid(vae(test)).numpy()
    print(f"squared error per pixel {np.mean((rebuilt - test) ** 2):.4f}, "
          f"mean image {np.mean((train.mean(0) - test) ** 2):.4f}")


if __name__ == "__main__":
    main()
