import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

tf.keras.utils.set_random_seed(5)
x = (load_digits().data / 16.0).astype("float32")
x_train, x_test = x[:1500], x[1500:]
LATENT = 6


class VAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.Sequential([
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(2 * LATENT),
        ])
        self.decoder = tf.keras.Sequential([
            tf.keras.layers.Dense(64, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(64, activation="sigmoid"),
        ])

    def call(self, x, training=False):
        mean, logvar = tf.split(self.encoder(x), 2, axis=1)
        z = mean
        if training:
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar

    def train_step(self, x):
        with tf.GradientTape() as tape:
            rec, mean, logvar = self(x, training=True)
            rec_loss = tf.reduce_mean(tf.keras.losses.binary_crossentropy(x, rec))
            kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=1)
            kl_loss = tf.reduce_mean(kl)
            loss = rec_loss + kl_loss
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        return {"loss": loss, "reconstruction": rec_loss, "kl": kl_loss}


vae = VAE()
vae.compile(optimizer=tf.keras.optimizers.Adam(2e-3))
history = vae.fit(x_train, epochs=40, batch_size=64, verbose=0)
for e in range(0, 40, 5):
    print("epoch", e + 1, {k: round(float(v[e]), 4) for k, v in history.history.items()})

rec, mean, _ = vae(x_test)
print("reconstruction mse:", float(np.mean((rec.numpy() - x_test) ** 2)))
print("mse of the average picture:", float(np.mean((x_train.mean(0) - x_test) ** 2)))
print("std of latent means:", mean.numpy().std(axis=0).round(3))
