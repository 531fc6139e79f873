"""VAE on binarised digits with KL warm-up, overridden train_step."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

LATENT = 8
WARMUP = 10
EPOCHS = 40


def bernoulli_nll(x, logits):
    return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=-1)


def kl_divergence(mean, logvar):
    return -0.5 * tf.reduce_sum(1 + logvar - tf.square(mean) - tf.exp(logvar), axis=-1)


class VAE(keras.Model):
    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.encoder = keras.Sequential([
            layers.Dense(128, activation="tanh"), layers.Dense(2 * LATENT)])
        self.decoder = keras.Sequential([
            layers.Dense(128, activation="tanh"), layers.Dense(dim)])
        self.kl_weight = 0.0
        self.trackers = {k: keras.metrics.Mean(name=k) for k in ("loss", "nll", "kl")}

    @property
    def metrics(self):
        return list(self.trackers.values())

    def call(self, x):
        mean, logvar = tf.split(self.encoder(x), 2, axis=-1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z), mean, logvar

    def train_step(self, data):
        x = data[0] if isinstance(data, tuple) else data
        with tf.GradientTape() as tape:
            logits, mean, logvar = self(x, training=True)
            nll = tf.reduce_mean(bernoulli_nll(x, logits))
            kl = tf.reduce_mean(kl_divergence(mean, logvar))
            loss = nll + self.kl_weight * kl
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for name, value in (("loss", loss), ("nll", nll), ("kl", kl)):
            self.trackers[name].update_state(value)
        return {k: m.result() for k, m in self.trackers.items()}


class KLWarmup(keras.callbacks.Callback):
    """Linear ramp of the KL weight from 0 to 1."""

    def __init__(self, n_epochs):
        super().__init__()
        self.n_epochs = n_epochs

    def on_epoch_begin(self, epoch, logs=None):
        w = min(1.0, epoch / self.n_epochs)
        self.model.kl_weight = w


def negative_elbo(model, x, samples=20):
    total = 0.0
    for _ in range(samples):
        logits, mean, logvar = model(x)
        total += float(tf.reduce_mean(bernoulli_nll(x, logits) + kl_divergence(mean, logvar)))
    return total / samples


def main():
    keras.utils.set_random_seed(4)
    x = (load_digits().data > 7).astype("float32")
    x_train, x_test = train_test_split(x, test_size=0.25, random_state=4)

    model = VAE(x.shape[1])
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    hist = model.fit(x_train, epochs=EPOCHS, batch_size=64, verbose=0,
                     callbacks=[KLWarmup(WARMUP)])
    for e in range(0, EPOCHS, 5):
        print("epoch %2d  " % e + "  ".join(f"{k} {v[e]:.2f}" for k, v in hist.history.items()))

    p = np.clip(x_train.mean(0), 1e-3, 1 - 1e-3)
    base = -(x_test * np.log(p) + (1 - x_test) * np.log(1 - p)).sum(1).mean()
    print(f"independent pixels, test NLL {base:.2f} nats")
    print(f"test negative ELBO {negative_elbo(model, x_test):.2f} nats")


if __name__ == "__main__":
    main()
