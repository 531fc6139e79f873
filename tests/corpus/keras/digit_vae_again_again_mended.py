import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

keras.utils.set_random_seed(2)
LATENT = 6


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.gen = keras.random.SeedGenerator(1)

    def call(self, inputs):
        mean, log_var = inputs
        eps = keras.random.normal(tf.shape(mean), seed=self.gen)
        return mean + tf.exp(0.5 * log_var) * eps


def make_encoder():
    inp = keras.Input((8, 8, 1))
    h = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(inp)
    h = layers.Flatten()(h)
    h = layers.Dense(64, activation="relu")(h)
    mean = layers.Dense(LATENT)(h)
    log_var = layers.Dense(LATENT)(h)
    return keras.Model(inp, [mean, log_var, Sampling()([mean, log_var])])


def make_decoder():
    inp = keras.Input((LATENT,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(4 * 4 * 16, activation="relu")(h)
    h = layers.Reshape((4, 4, 16))(h)
    h = layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu")(h)
    return keras.Model(inp, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(h))


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kw):
        super().__init__(**kw)
        self.encoder, self.decoder = encoder, decoder
        self.total = keras.metrics.Mean(name="loss")
        self.rec = keras.metrics.Mean(name="rec")
        self.kl = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.rec, self.kl]

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(x, training=True)
            out = self.decoder(z, training=True)
            pixel = keras.losses.binary_crossentropy(x, out)
            rec = tf.reduce_mean(tf.reduce_sum(pixel, axis=(1, 2)))
            kl = -0.5 * (1 + log_var - tf.square(mean) - tf.exp(log_var))
            kl = tf.reduce_mean(tf.reduce_sum(kl, axis=1))
            loss = rec + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total.update_state(loss)
        self.rec.update_state(rec)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


def main():
    digits = load_digits()
    x = (digits.images / 16.0).astype("float32")[..., None]
    x_tr, x_te, y_tr, y_te = train_test_split(x, digits.target, test_size=0.25, random_state=0)

    vae = VAE(make_encoder(), make_decoder())
    vae.compile(optimizer=keras.optimizers.Adam(3e-3))
    vae.fit(x_tr, epochs=40, batch_size=64, verbose=2)

    m_tr = vae.encoder.predict(x_tr, verbose=0)[0]
    m_te = vae.encoder.predict(x_te, verbose=0)[0]
    back = vae.decoder.predict(m_te, verbose=0)
    mse = float(((back - x_te) ** 2).mean())
    base = float(((x_tr.mean(0) - x_te) ** 2).mean())
    knn = KNeighborsClassifier(5).fit(m_tr, y_tr)
    print(f"test mse {mse:.4f} (mean image {base:.4f})")
    print(f"latent std {m_te.std(0).mean():.4f}")
    print(f"knn accuracy on latent codes {knn.score(m_te, y_te):.3f}")


if __name__ == "__main__":
    main()
