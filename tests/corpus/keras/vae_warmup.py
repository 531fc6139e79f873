import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier


class KLWarmup(keras.callbacks.Callback):
    def __init__(self, epochs):
        super().__init__()
        self.epochs = epochs

    def on_epoch_begin(self, epoch, logs=None):
        self.model.beta.assign(min(1.0, epoch / self.epochs))


class VAE(keras.Model):
    def __init__(self, latent=6):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(96, activation="elu"), layers.Dense(2 * latent)])
        self.decoder = keras.Sequential([layers.Dense(96, activation="elu"), layers.Dense(64)])
        self.beta = self.add_weight(shape=(), initializer="zeros", trainable=False, name="beta")
        self.seed_gen = keras.random.SeedGenerator(1)
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        mu, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mu + tf.exp(0.5 * logvar) * keras.random.normal(tf.shape(mu), seed=self.seed_gen)
        return self.decoder(z), mu, logvar

    def terms(self, x):
        logits, mu, logvar = self(x)
        recon = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=-1)
        kl = -0.5 * tf.reduce_sum(1 + logvar - tf.square(mu) - tf.exp(logvar), axis=-1)
        return tf.reduce_mean(recon), tf.reduce_mean(kl)

    def log(self, recon, kl):
        self.trackers["recon"].update_state(recon)
        self.trackers["kl"].update_state(kl)
        return {k: m.result() for k, m in self.trackers.items()}

    def train_step(self, x):
        with tf.GradientTape() as tape:
            recon, kl = self.terms(x)
            objective = recon + self.beta * kl
        grads = tape.gradient(objective, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        return self.log(recon, kl)

    def test_step(self, x):
        return self.log(*self.terms(x))


keras.utils.set_random_seed(0)
data, target = load_digits(return_X_y=True)
data = (data / 16.0).astype("float32")
idx = np.random.permutation(len(data))
tr, te = idx[:1400], idx[1400:]
loader = lambda rows, train: (tf.data.Dataset.from_tensor_slices(data[rows])
                              .shuffle(len(rows) if train else 1).batch(50))

vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(loader(tr, True), validation_data=loader(te, False), epochs=20, verbose=2,
        callbacks=[KLWarmup(8)])

codes = lambda rows: tf.split(vae.encoder(data[rows]), 2, axis=-1)[0].numpy()
knn = KNeighborsClassifier(5).fit(codes(tr), target[tr])
print("5-NN accuracy on latent means:", knn.score(codes(te), target[te]))
