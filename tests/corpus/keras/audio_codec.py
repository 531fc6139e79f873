import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers


def spectra(n, rng, bins=64):
    """Log-magnitude-like frames: two resonances and a tilt, slightly noisy."""
    k = np.arange(bins)[None]
    f1 = rng.uniform(5, 30, (n, 1))
    f2 = rng.uniform(30, 60, (n, 1))
    g1, g2 = rng.uniform(0.5, 2.0, (2, n, 1))
    tilt = rng.uniform(-0.02, 0.02, (n, 1))
    x = g1 * np.exp(-((k - f1) / 5) ** 2) + g2 * np.exp(-((k - f2) / 7) ** 2) + tilt * k
    return (x + rng.normal(0, 0.03, x.shape)).astype("float32")


class Codec:
    def __init__(self, bins=64, code=6):
        self.encoder = keras.Sequential([
            keras.Input((bins,)),
            layers.Dense(128, activation="tanh"),
            layers.Dense(64, activation="tanh"),
            layers.Dense(code, name="code"),
        ], name="encoder")
        self.decoder = keras.Sequential([
            keras.Input((code,)),
            layers.Dense(64, activation="tanh"),
            layers.Dense(128, activation="tanh"),
            layers.Dense(bins),
        ], name="decoder")
        self.opt = keras.optimizers.AdamW(2e-3, weight_decay=1e-5)
        self.weights = self.encoder.trainable_variables + self.decoder.trainable_variables

    def reconstruct(self, x, training=False):
        z = self.encoder(x, training=training)
        return self.decoder(z, training=training)

    @tf.function
    def train_step(self, x):
        with tf.GradientTape() as tape:
            y = self.reconstruct(x, training=True)
            loss = tf.reduce_mean(tf.square(x - y)) + 0.1 * tf.reduce_mean(tf.abs(x - y))
        variables = self.decoder.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    def snr_db(self, x):
        y = self.reconstruct(x).numpy()
        return 10 * np.log10(np.var(x) / np.mean((x - y) ** 2))


def run(epochs=40, batch=64):
    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)
    train, test = spectra(6000, rng), spectra(1000, rng)
    mean = train.mean(0)
    train, test = train - mean, test - mean
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(6000, seed=2).batch(batch)
    codec = Codec()
    for epoch in range(epochs):
        losses = [codec.train_step(x) for x in ds]
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1}: loss {np.mean([float(l) for l in losses]):.4f} test SNR {codec.snr_db(test):.2f} dB")
    print(f"SNR on unseen frames: {codec.snr_db(test):.2f} dB")


run()
