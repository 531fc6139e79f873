"""Variational autoencoder for 8x8 handwriting with a KL warm-up (custom loop)."""
import argparse
import math
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--latent", type=int, default=8)
    p.add_argument("--epochs", type=int, default=60)
    p.add_argument("--warmup", type=int, default=15)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    return p.parse_args([])


class VAE(keras.Model):
    def __init__(self, latent):
        super().__init__()
        self.latent = latent
        self.enc = keras.Sequential([layers.Dense(128, activation="relu"),
                                     layers.Dense(64, activation="relu"),
                                     layers.Dense(2 * latent)])
        self.dec = keras.Sequential([layers.Dense(64, activation="relu"),
                                     layers.Dense(128, activation="relu"),
                                     layers.Dense(64)])

    def call(self, x):
        mu, logvar = tf.split(self.enc(x), 2, axis=-1)
        logvar = tf.clip_by_value(logvar, -8.0, 6.0)
        z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
        return self.dec(z), mu, logvar


def terms(x, logits, mu, logvar):
    """Per-example reconstruction and KL parts of the bound, in nats."""
    rec = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=1)
    kl = 0.5 * tf.reduce_sum(tf.square(mu) + tf.exp(logvar) - 1.0 - logvar, axis=1)
    return rec, kl


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = keras.optimizers.Adam(lr)
        self.beta = 0.0

    @tf.function
    def step(self, x):
        with tf.GradientTape() as tape:
            logits, mu, logvar = self.model(x)
            rec, kl = terms(x, logits, mu, logvar)
            loss = tf.reduce_mean(rec + self.beta * kl)
        grads = tape.gradient(loss, self.model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 50.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return tf.reduce_mean(rec), tf.reduce_mean(kl)

    def fit(self, ds, epochs, warmup):
        for epoch in range(epochs):
            self.beta = min(1.0, epoch / warmup)
            rec, kl = keras.metrics.Mean(), keras.metrics.Mean()
            for batch in ds:
                a, b = self.step(batch)
                rec.update_state(a)
                kl.update_state(b)
            if epoch % 10 == 9 or epoch == 0:
                print(f"epoch {epoch + 1:3d}  reconstruction {float(rec.result()):7.2f}  "
                      f"KL {float(kl.result()):7.2f}")


def bound(model, x, draws=20):
    total = 0.0
    for _ in range(draws):
        rec, kl = terms(x, *model(x))
        total += float(tf.reduce_mean(rec + kl))
    return total / draws


def main():
    args = parse()
    keras.utils.set_random_seed(2)
    os.makedirs("out", exist_ok=True)
    x = (load_digits().data > 7).astype("float32")
    x_tr, x_te = train_test_split(x, test_size=0.25, random_state=0)
    ds = (tf.data.Dataset.from_tensor_slices(x_tr)
          .shuffle(len(x_tr), seed=0).batch(args.batch, drop_remainder=True))

    model = VAE(args.latent)
    trainer = Trainer(model, args.lr)
    trainer.fit(ds, args.epochs, args.warmup)

    p = np.clip(x_tr.mean(0), 1e-3, 1 - 1e-3)
    independent = -np.mean(np.sum(x_te * np.log(p) + (1 - x_te) * np.log(1 - p), axis=1))
    held = bound(model, tf.constant(x_te))
    print(f"held-out negative bound: {held:.2f} nats ({held / math.log(2) / 64:.3f} bits/pixel), "
          f"independent pixels {independent:.2f} nats")

    z = tf.random.normal([8, args.latent])
    samples = tf.sigmoid(model.dec(z)).numpy().reshape(8, 8, 8)
    np.save("out/samples.npy", samples)


if __name__ == "__main__":
    main()
