"""Denoising autoencoder for sonar pings."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

SAMPLES = 64
NOISE = 0.8


def pings(n, seed):
    r = np.random.default_rng(seed)
    t = np.linspace(0, 1, SAMPLES)
    freq = r.uniform(2, 6, size=(n, 1))
    phase = r.uniform(0, 2 * np.pi, size=(n, 1))
    centre = r.uniform(0.3, 0.7, size=(n, 1))
    return (np.sin(2 * np.pi * freq * t + phase) * np.exp(-((t - centre) / 0.25) ** 2) * 1.5).astype("float32")


class Denoiser(keras.Model):
    def __init__(self, noise):
        super().__init__()
        self.noise = noise
        self.net = keras.Sequential([
            layers.Dense(256, activation="relu"),
            layers.Dense(128, activation="relu"),
            layers.Dense(256, activation="relu"),
            layers.Dense(SAMPLES),
        ])
        self.track = keras.metrics.Mean(name="mse")

    def call(self, x):
        return self.net(x)

    def corrupt(self, x):
        return x + self.noise * keras.random.normal(tf.shape(x), seed=2024)

    def train_step(self, clean):
        noisy = self.corrupt(clean)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(noisy, training=True) - clean))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.track.update_state(loss)
        return {"mse": self.track.result()}

    @property
    def metrics(self):
        return [self.track]


keras.utils.set_random_seed(1)
clean = pings(6400, 0)
model = Denoiser(NOISE)
model(clean[:1])
model.compile(optimizer=keras.optimizers.Adam(1e-3))
model.fit(clean, epochs=20, batch_size=32, verbose=2)

held = pings(1000, 99)
heard = held + NOISE * np.random.default_rng(5).normal(size=held.shape).astype("float32")
restored = model.predict(heard, verbose=0)
print(f"noisy mse {np.mean((heard - held) ** 2):.4f}  restored mse {np.mean((restored - held) ** 2):.4f}")
