"""GAN that imitates pairs of readings (flow, pressure) of a pump with three operating modes."""
import pathlib

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(9)
pathlib.Path("out").mkdir(exist_ok=True)

LATENT = 6
BATCH = 256
STEPS = 1500


def readings(n, seed):
    rng = np.random.default_rng(seed)
    mode = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    centre = np.array([[-1.2, 0.6], [0.3, -0.9], [1.3, 0.9]])[mode]
    u = rng.normal(size=n)
    bend = np.stack([0.35 * u, 0.15 * u ** 2 - 0.15], 1)
    return (centre + bend + 0.1 * rng.normal(size=(n, 2))).astype("float32")


def mmd(a, b, scales=(0.25, 0.5, 1.0)):
    """Squared maximum mean discrepancy with a mixture of Gaussian kernels."""
    def k(p, q):
        d = ((p[:, None] - q[None]) ** 2).sum(-1)
        return sum(np.exp(-d / (2 * s * s)) for s in scales).mean()
    return float(k(a, a) + k(b, b) - 2 * k(a, b))


def mlp(n_in, n_out, act, name):
    return keras.Sequential([keras.Input((n_in,)),
                             layers.Dense(96, activation=act),
                             layers.Dense(96, activation=act),
                             layers.Dense(n_out)], name=name)


generator = mlp(LATENT, 2, "relu", "generator")
critic = mlp(2, 1, layers.LeakyReLU(negative_slope=0.2), "critic")
g_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.99)
d_optimizer = keras.optimizers.Adam(5e-4, beta_1=0.0, beta_2=0.99)
bce = keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def critic_step(real):
    fake = generator(tf.random.normal([BATCH, LATENT]), training=True)
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(real)
            d_real = critic(real, training=True)
        slope = inner.gradient(d_real, real)
        d_fake = critic(fake, training=True)
        loss = bce(tf.ones_like(d_real), d_real) + bce(tf.zeros_like(d_fake), d_fake)
        loss += 0.05 * tf.reduce_mean(tf.reduce_sum(tf.square(slope), axis=1))
    grads = tape.gradient(loss, critic.trainable_variables)
    d_optimizer.apply_gradients(zip(grads, critic.trainable_variables))
    return loss


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        fake = generator(tf.random.normal([BATCH, LATENT]), training=True)
        d_fake = critic(fake, training=True)
        loss = bce(tf.ones_like(d_fake), d_fake)
    grads = tape.gradient(loss, generator.trainable_variables)
    g_optimizer.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


train = readings(6000, seed=1)
held_out = readings(1000, seed=2)
stream = iter(tf.data.Dataset.from_tensor_slices(train).shuffle(6000, seed=3).repeat()
              .batch(BATCH, drop_remainder=True).prefetch(2))

for step in range(1, STEPS + 1):
    d_loss = critic_step(next(stream))
    g_loss = generator_step()
    if step % 500 == 0:
        fake = generator(tf.random.normal([1000, LATENT])).numpy()
        print(f"step {step:5d}  critic {float(d_loss):.3f}  generator {float(g_loss):.3f}  "
              f"MMD {mmd(fake, held_out):.4f}")

fake = generator(tf.random.normal([1000, LATENT])).numpy()
gauss = np.random.default_rng(5).multivariate_normal(train.mean(0), np.cov(train.T), 1000)
print(f"held-out MMD: GAN {mmd(fake, held_out):.4f}  single Gaussian {mmd(gauss, held_out):.4f}  "
      f"real sample {mmd(readings(1000, 4), held_out):.4f}")
np.save("out/fake_readings.npy", fake)
