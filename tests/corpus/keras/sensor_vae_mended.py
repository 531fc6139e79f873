"""VAE of daily load curves; the weight of the KL term is warmed up over the first epochs."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

HOURS, LATENT = 48, 4


def load_curves(n, seed):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, HOURS)[None]
    morning = rng.normal(0.30, 0.03, (n, 1))
    evening = rng.normal(0.78, 0.03, (n, 1))
    a = rng.uniform(0.5, 1.5, (n, 1))
    b = rng.uniform(0.5, 1.5, (n, 1))
    curve = a * np.exp(-((t - morning) / 0.07) ** 2) + b * np.exp(-((t - evening) / 0.09) ** 2)
    return (curve + rng.normal(0, 0.03, curve.shape)).astype("float32")


class CurveVAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.Sequential([layers.Dense(96, activation="relu"),
                                     layers.Dense(64, activation="relu"),
                                     layers.Dense(2 * LATENT)])
        self.dec = keras.Sequential([layers.Dense(64, activation="relu"),
                                     layers.Dense(96, activation="relu"),
                                     layers.Dense(HOURS)])
        self.beta = tf.Variable(0.0, trainable=False)
        self.rec_m = keras.metrics.Mean(name="rec")
        self.kl_m = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.rec_m, self.kl_m]

    def call(self, x):
        mu, logvar = ops.split(self.enc(x), 2, axis=-1)
        z = mu + ops.exp(0.5 * logvar) * keras.random.normal(ops.shape(mu))
        return self.dec(z), mu, logvar

    def train_step(self, data):
        with tf.GradientTape() as tape:
            out, mu, logvar = self(data)
            rec = tf.reduce_mean(tf.reduce_sum(tf.square(out - data), -1)) / 0.02
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - tf.square(mu) - tf.exp(logvar), -1))
            loss = rec + self.beta * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.rec_m.update_state(rec)
        self.kl_m.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


class WarmUp(keras.callbacks.Callback):
    def __init__(self, epochs, top=1.0):
        super().__init__()
        self.epochs, self.top = epochs, top

    def on_epoch_begin(self, epoch, logs=None):
        beta = self.top * min(1.0, epoch / self.epochs)
        self.model.beta.assign(beta)


def main():
    keras.utils.set_random_seed(8)
    x = load_curves(4000, 1)
    held = load_curves(1000, 2)
    vae = CurveVAE()
    vae.compile(optimizer=keras.optimizers.Adam(2e-3))
    vae.fit(x, epochs=20, batch_size=64, callbacks=[WarmUp(8)], verbose=2)

    z = np.random.default_rng(0).normal(size=(1000, LATENT)).astype("float32")
    drawn = vae.dec(z).numpy()
    dist = np.sqrt(((drawn[:, None] - held[None]) ** 2).mean(-1)).min(1)
    _, mu, logvar = vae(held)
    kl = -0.5 * np.mean(np.sum(1 + logvar - mu ** 2 - np.exp(logvar), -1))
    print(f"KL to the prior on held-out curves {kl:.2f}")
    print(f"distance of drawn curves to the nearest real one {dist.mean():.4f}")


if __name__ == "__main__":
    main()
