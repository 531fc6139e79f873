"""Variational autoencoder on 8x8 digits, custom loop."""
import numpy as np
import keras
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(4)

LATENT = 8
BATCH = 64
EPOCHS = 40

X = (load_digits().data / 16.0).astype("float32")
x_train, x_test = train_test_split(X, test_size=0.2, random_state=4)


class Sampling(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.seed_gen = keras.random.SeedGenerator(17)

    def call(self, inputs):
        mu, logvar = inputs
        eps = keras.random.normal(keras.ops.shape(mu), seed=self.seed_gen)
        return mu + keras.ops.exp(0.5 * logvar) * eps


def build_encoder():
    inp = keras.Input((64,))
    h = layers.Dense(128, activation="relu")(inp)
    h = layers.Dense(64, activation="relu")(h)
    mu = layers.Dense(LATENT, name="mu")(h)
    logvar = layers.Dense(LATENT, name="logvar")(h)
    z = Sampling()([mu, logvar])
    return keras.Model(inp, [mu, logvar, z], name="encoder")


def build_decoder():
    return keras.Sequential([
        keras.Input((LATENT,)),
        layers.Dense(64, activation="relu"),
        layers.Dense(128, activation="relu"),
        layers.Dense(64),
    ], name="decoder")


encoder, decoder = build_encoder(), build_decoder()
optimizer = keras.optimizers.Adam(2e-3)
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer.build(weights)


def vae_losses(x):
    mu, logvar, z = encoder(x, training=True)
    logits = decoder(z, training=True)
    bce = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
    recon = tf.reduce_mean(bce)
    kl = -0.5 * tf.reduce_sum(1.0 + logvar - tf.square(mu) - tf.exp(logvar), axis=1)
    return recon, tf.reduce_mean(kl)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        recon, kl = vae_losses(x)
        loss = recon + kl
    grads = tape.gradient(loss, weights)
    optimizer.apply_gradients(zip(grads, weights))
    return recon, kl


def reconstruct(x):
    mu, _, _ = encoder(x, training=False)
    return tf.sigmoid(decoder(mu, training=False)).numpy()


ds = tf.data.Dataset.from_tensor_slices(x_train).shuffle(2000, seed=1).batch(BATCH)
for epoch in range(1, EPOCHS + 1):
    rs, ks = [], []
    for xb in ds:
        r, k = train_step(xb)
        rs.append(float(r))
        ks.append(float(k))
    if epoch % 5 == 0:
        mse = np.mean((reconstruct(x_test) - x_test) ** 2)
        print(f"epoch {epoch:3d} recon {np.mean(rs):.4f} kl {np.mean(ks):.4f} test mse {mse:.4f}")

mse = np.mean((reconstruct(x_test) - x_test) ** 2)
base = np.mean((x_train.mean(0) - x_test) ** 2)
print(f"test reconstruction MSE {mse:.4f}  (mean image {base:.4f})")
