"""Hinge GAN for 2-D particle positions: eight jets arranged on a ring around a nozzle."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers

JETS, RADIUS, SPREAD = 8, 2.0, 0.14
LATENT = 8
STEPS, BATCH = 2000, 256


def real_batch(n, rng):
    k = rng.integers(0, JETS, n)
    ang = 2 * np.pi * k / JETS
    centre = RADIUS * np.stack([np.cos(ang), np.sin(ang)], 1)
    return (centre + rng.normal(0, SPREAD, (n, 2))).astype("float32")


def energy_distance(a, b):
    def d(u, v):
        return np.sqrt(((u[:, None] - v[None]) ** 2).sum(-1) + 1e-12).mean()
    return 2 * d(a, b) - d(a, a) - d(b, b)


def jets_hit(points):
    ang = 2 * np.pi * np.arange(JETS) / JETS
    centre = RADIUS * np.stack([np.cos(ang), np.sin(ang)], 1)
    dist = np.sqrt(((points[:, None] - centre[None]) ** 2).sum(-1))
    near = dist.min(1) < 4 * SPREAD
    counts = np.bincount(dist.argmin(1)[near], minlength=JETS)
    return int((counts > .02 * len(points)).sum()), near.mean()


def make_generator():
    return keras.Sequential([keras.Input((LATENT,)),
                             layers.Dense(96, activation="relu"),
                             layers.Dense(96, activation="relu"),
                             layers.Dense(2)], name="generator")


def make_discriminator():
    return keras.Sequential([keras.Input((2,)),
                             layers.Dense(96), layers.LeakyReLU(negative_slope=.2),
                             layers.Dense(96), layers.LeakyReLU(negative_slope=.2),
                             layers.Dense(1)], name="discriminator")


class GAN:
    def __init__(self, lr=7e-4):
        self.g, self.d = make_generator(), make_discriminator()
        self.params = self.g.trainable_variables + self.d.trainable_variables
        self.opt = keras.optimizers.Adam(lr, beta_1=.5)

    @tf.function
    def discriminator_step(self, real):
        noise = tf.random.normal((BATCH, LATENT))
        with tf.GradientTape() as tape:
            s_real = self.d(real, training=True)
            s_fake = self.d(tf.stop_gradient(self.g(noise, training=True)), training=True)
            loss = (tf.reduce_mean(tf.nn.relu(1.0 - s_real))
                    + tf.reduce_mean(tf.nn.relu(1.0 + s_fake)))
        self.opt.apply_gradients(zip(tape.gradient(loss, self.params), self.params))
        return loss

    @tf.function
    def generator_step(self):
        noise = tf.random.normal((BATCH, LATENT))
        with tf.GradientTape() as tape:
            score = self.d(self.g(noise, training=True), training=True)
            loss = -tf.reduce_mean(score)
        self.opt.apply_gradients(zip(tape.gradient(loss, self.params), self.params))
        return loss

    def sample(self, n):
        return self.g(tf.random.normal((n, LATENT))).numpy()


def main():
    keras.utils.set_random_seed(6)
    rng = np.random.default_rng(6)
    held_out = real_batch(1000, rng)
    gan = GAN()
    print(f"before training: energy distance {energy_distance(gan.sample(1000), held_out):.3f}")
    for step in range(1, STEPS + 1):
        d_loss = gan.discriminator_step(real_batch(BATCH, rng))
        g_loss = gan.generator_step()
        if step % 500 == 0:
            fake = gan.sample(1000)
            hit, near = jets_hit(fake)
            print(f"step {step:5d}  d {float(d_loss):.3f}  g {float(g_loss):.3f}  "
                  f"energy {energy_distance(fake, held_out):.3f}  jets {hit}/{JETS}  on jets {near:.2f}")

    fake = gan.sample(1000)
    blob = (held_out.mean(0) + held_out.std(0) * rng.normal(size=(1000, 2))).astype("float32")
    hit, near = jets_hit(fake)
    print(f"generator: energy distance {energy_distance(fake, held_out):.4f}, "
          f"jets covered {hit}/{JETS}, share on a jet {near:.3f}")
    print(f"references: real sample {energy_distance(real_batch(1000, rng), held_out):.4f}, "
          f"one Gaussian {energy_distance(blob, held_out):.4f} (share {jets_hit(blob)[1]:.3f})")


if __name__ == "__main__":
    main()
