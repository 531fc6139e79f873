"""A small VAE on digit images; the weight of the KL term is warmed up."""
import resource
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

CODE = 6
EPOCHS = 16
BATCH = 140


def megabytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize() / 2**20


def mlp(n_in, n_out, name):
    return keras.Sequential(
        [
            keras.Input(shape=(n_in,)),
            layers.Dense(128, activation="gelu"),
            layers.Dense(n_out),
        ],
        name=name,
    )


class DigitVAE:
    def __init__(self, lr=8e-3):
        self.encoder = mlp(64, 2 * CODE, "encoder")
        self.decoder = mlp(CODE, 64, "decoder")
        self.variables = self.encoder.trainable_variables + self.decoder.trainable_variables
        self.optimizer = keras.optimizers.Adam(lr)

    def elbo_terms(self, x):
        mu, log_var = tf.split(self.encoder(x), 2, axis=-1)
        z = mu + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mu))
        logits = self.decoder(z)
        bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
        kl = 0.5 * tf.reduce_sum(tf.exp(log_var) + mu**2 - 1.0 - log_var, axis=-1)
        return tf.reduce_mean(tf.reduce_sum(bce, axis=-1)), tf.reduce_mean(kl)

    @tf.function
    def train_step(self, x, beta):
        with tf.GradientTape() as tape:
            rec, kl = self.elbo_terms(x)
            loss = rec + beta * kl
        grads = tape.gradient(loss, self.variables)
        grads, _ = tf.clip_by_global_norm(grads, 10.0)
        self.optimizer.apply_gradients(zip(grads, self.variables))
        return rec, kl


def warmup(step, total):
    return min(1.0, (step + 1) / (0.3 * total))


keras.utils.set_random_seed(0)
pixels = (load_digits().data / 16.0).astype("float32")
pixels = pixels[np.random.default_rng(0).permutation(len(pixels))]
train, test = pixels[:1400], pixels[1400:]
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1400, seed=0).batch(BATCH, drop_remainder=True)

vae = DigitVAE()
total = EPOCHS * len(ds)
step = 0
start = None
for epoch in range(EPOCHS):
    recs, kls = [], []
    for x in ds:
        beta = warmup(step, total)
        rec, kl = vae.train_step(x, beta)
        recs.append(float(rec))
        kls.append(float(kl))
        step += 1
        if start is None:
            start, before = time.time(), megabytes()
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d}  rec {np.mean(recs):7.3f}  kl {np.mean(kls):6.3f}  resident {megabytes():7.1f} MB")

seconds = time.time() - start
rec, kl = (float(v) for v in vae.elbo_terms(tf.constant(test)))
p = train.mean(axis=0).clip(1e-4, 1 - 1e-4)
plain = float(-(test * np.log(p) + (1 - test) * np.log(1 - p)).sum(1).mean())
print(f"test negative ELBO {rec + kl:.2f}  (independent pixels {plain:.2f})")
print(f"{1000 * seconds / step:.1f} ms per step, memory grew by {megabytes() - before:.1f} MB over {step} steps")
