import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(42)
LATENT = 4


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        mu, logvar = inputs
        eps = keras.random.normal(tf.shape(mu), seed=self.seed_generator)
        return mu + tf.exp(0.5 * logvar) * eps


def make_encoder():
    x_in = keras.Input((64,))
    h = layers.Dense(128, activation="relu")(x_in)
    h = layers.Dense(64, activation="relu")(h)
    mu = layers.Dense(LATENT, name="mu")(h)
    logvar = layers.Dense(LATENT, name="logvar")(h)
    return keras.Model(x_in, [mu, logvar, Sampling()([mu, logvar])], name="encoder")


def make_decoder():
    z_in = keras.Input((LATENT,))
    h = layers.Dense(64, activation="relu")(z_in)
    h = layers.Dense(128, activation="relu")(h)
    return keras.Model(z_in, layers.Dense(64, activation="sigmoid")(h), name="decoder")


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kw):
        super().__init__(**kw)
        self.encoder = encoder
        self.decoder = decoder
        self.total = keras.metrics.Mean(name="loss")
        self.rec = keras.metrics.Mean(name="reconstruction")
        self.kl = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.rec, self.kl]

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mu, logvar, z = self.encoder(data, training=True)
            x_hat = self.decoder(z, training=True)
            rec_loss = tf.reduce_mean(keras.losses.binary_crossentropy(data, x_hat))
            kl_loss = -0.5 * (1 + logvar - tf.square(mu) - tf.exp(logvar))
            kl_loss = tf.reduce_mean(tf.reduce_sum(kl_loss, axis=1))
            loss = rec_loss + kl_loss
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total.update_state(loss)
        self.rec.update_state(rec_loss)
        self.kl.update_state(kl_loss)
        return {m.name: m.result() for m in self.metrics}


X, y = load_digits(return_X_y=True)
X = (X / 16.0).astype("float32")
X_train, X_test = X[:1500], X[1500:]

vae = VAE(make_encoder(), make_decoder())
vae.compile(optimizer=keras.optimizers.Adam(2e-3))
vae.fit(X_train, epochs=45, batch_size=64, verbose=0, callbacks=[
    keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: e % 9 == 8 and print(
        e + 1, {k: round(float(v), 4) for k, v in logs.items()}))])

mu, logvar, _ = vae.encoder.predict(X_test, verbose=0)
rec = vae.decoder.predict(mu, verbose=0)
print("test reconstruction MSE      : %.4f" % np.mean((rec - X_test) ** 2))
print("MSE of always the mean digit : %.4f" % np.mean((X_train.mean(0) - X_test) ** 2))
print("spread of latent means       :", mu.std(0).round(3))
fakes = vae.decoder.predict(np.random.normal(size=(200, LATENT)), verbose=0)
print("pixel spread over 200 samples: %.4f" % fakes.std(0).mean())
