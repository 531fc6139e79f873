import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)


def mirrored(n):
    cells = (rng.random((n, 3, 1)) < 0.5).astype("float32")
    angle = rng.integers(0, 4, n)
    out = np.zeros((n, 12, 12), "float32")
    yy, xx = np.mgrid[:12, :12]
    ring = np.minimum(np.maximum(abs(xx - 5.5), abs(yy - 5.5)) // 2, 2).astype(int)
    for i in range(n):
        img = cells[i, ring, 0]
        if angle[i] % 2:
            img = np.where(abs(xx - 5.5) < abs(yy - 5.5), img, 1 - img)
        out[i] = img
    return out.reshape(n, 144)


class Sampling(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.seed_generator = keras.random.SeedGenerator(1)

    def call(self, inputs):
        mean, log_var = inputs
        eps = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_var) * eps


class VAE(keras.Model):
    def __init__(self, latent=4, **kwargs):
        super().__init__(**kwargs)
        self.body = keras.Sequential([layers.Dense(96, activation="relu"), layers.Dense(48, activation="relu")])
        self.to_mean = layers.Dense(latent)
        self.to_log_var = layers.Dense(latent, kernel_initializer="zeros")
        self.sampling = Sampling()
        self.decoder = keras.Sequential([layers.Dense(96, activation="relu"), layers.Dense(144)])
        self.total = keras.metrics.Mean(name="loss")
        self.recon = keras.metrics.Mean(name="recon")
        self.kl = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.total, self.recon, self.kl]

    def call(self, x):
        h = self.body(x)
        mean, log_var = self.to_mean(h), self.to_log_var(h)
        return self.decoder(self.sampling((mean, log_var))), mean, log_var

    def train_step(self, x):
        with tf.GradientTape() as tape:
            logits, mean, log_var = self(x, training=True)
            pixel = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
            recon = tf.reduce_mean(tf.reduce_sum(pixel, axis=1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - tf.square(mean) - tf.exp(log_var), axis=1))
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total.update_state(loss)
        self.recon.update_state(recon)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


x_train, x_test = mirrored(2000), mirrored(300)
vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(3e-3))
vae.fit(x_train, epochs=20, batch_size=64, verbose=2)

logits, _, _ = vae(x_test)
print("pixels right", ((logits.numpy() > 0) == (x_test > 0.5)).mean(), "share of ones", x_test.mean())
