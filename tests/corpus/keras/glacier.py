import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops
from sklearn.datasets import load_digits

keras.utils.set_random_seed(0)


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_generator = keras.random.SeedGenerator(5)

    def call(self, stats):
        mean, log_var = stats
        eps = keras.random.normal(ops.shape(mean), seed=self.seed_generator)
        return mean + ops.exp(0.5 * log_var) * eps


def make_encoder(latent):
    inp = keras.Input((64,))
    h = layers.Dense(128, activation="relu")(inp)
    h = layers.Dense(64, activation="relu")(h)
    mean = layers.Dense(latent, name="mean")(h)
    log_var = layers.Dense(latent, name="log_var")(h)
    z = Sampling()([mean, log_var])
    return keras.Model(inp, [mean, log_var, z], name="encoder")


def make_decoder(latent):
    inp = keras.Input((latent,))
    h = layers.Dense(64, activation="relu")(inp)
    h = layers.Dense(128, activation="relu")(h)
    return keras.Model(inp, layers.Dense(64, activation="sigmoid")(h), name="decoder")


class VAE(keras.Model):
    def __init__(self, latent=6, **kw):
        super().__init__(**kw)
        self.encoder = make_encoder(latent)
        self.decoder = make_decoder(latent)
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "recon", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        return self.decoder(self.encoder(x)[0])

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var, z = self.encoder(x, training=True)
            out = self.decoder(z, training=True)
            recon = ops.mean(keras.losses.binary_crossentropy(x, out))
            kl = -0.5 * ops.sum(1 + log_var - ops.square(mean) - ops.exp(log_var), axis=1)
            kl = ops.mean(kl)
            loss = recon + kl
        grads = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        for name, value in (("loss", loss), ("recon", recon), ("kl", kl)):
            self.trackers[name].update_state(value)
        return {m.name: m.result() for m in self.metrics}


def main():
    x = (load_digits().data / 16.0).astype("float32")
    rng = np.random.default_rng(1)
    rng.shuffle(x)
    train, test = x[:1500], x[1500:]

    vae = VAE()
    vae.compile(optimizer=keras.optimizers.Adam(2e-3))
    vae.fit(train, batch_size=50, epochs=40, verbose=2)

    mean, log_var, _ = vae.encoder.predict(test, verbose=0)
    out = vae.decoder.predict(mean, verbose=0)
    print("spread of the codes per dimension:", np.round(mean.std(axis=0), 3))
    print("test reconstruction mse: %.4f" % np.mean((out - test) ** 2))
    print("mse of the average digit: %.4f" % np.mean((train.mean(0) - test) ** 2))
    z = rng.normal(size=(4, 6)).astype("float32")
    for img in vae.decoder.predict(z, verbose=0).reshape(-1, 8, 8):
        print("\n".join("".join(" .:*#"[int(v * 4.99)] for v in row) for row in img), "\n")


main()
