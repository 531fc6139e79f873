# GAN on a two-dimensional mixture (six modes on a hexagon), after Goodfellow et al. / the unrolled-GAN toy set.
import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse

import keras
import numpy as np
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=2000)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--latent", type=int, default=8)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)

ANGLES = np.arange(6) * np.pi / 3
CENTRES = 1.5 * np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)
STD = 0.2


def sample_real(n):
    which = rng.integers(0, len(CENTRES), n)
    return (CENTRES[which] + STD * rng.normal(size=(n, 2))).astype("float32")


def sample_noise(n):
    return rng.normal(size=(n, args.latent)).astype("float32")


def make_generator():
    return keras.Sequential(
        [
            keras.Input((args.latent,)),
            layers.Dense(96, activation="relu"),
            layers.Dense(96, activation="relu"),
            layers.Dense(2),
        ],
        name="generator",
    )


def make_discriminator():
    return keras.Sequential(
        [
            keras.Input((2,)),
            layers.Dense(96),
            layers.LeakyReLU(0.2),
            layers.Dense(96),
            layers.LeakyReLU(0.2),
            layers.Dense(1, activation="sigmoid"),
        ],
        name="discriminator",
    )


def quality(points):
    distance = np.linalg.norm(points[:, None] - CENTRES[None], axis=-1)
    close = distance.min(axis=1) < 2.5 * STD
    hits = np.bincount(distance.argmin(axis=1)[close], minlength=len(CENTRES))
    return close.mean(), int((hits > 0.02 * len(points)).sum())


generator = make_generator()
discriminator = make_discriminator()
discriminator.compile(optimizer=keras.optimizers.Adam(2e-3, beta_1=0.5), loss="binary_crossentropy", metrics=["accuracy"])

discriminator.trainable = False
z = keras.Input((args.latent,))
gan = keras.Model(z, discriminator(generator(z)), name="gan")
gan.compile(optimizer=keras.optimizers.Adam(1e-3, beta_1=0.5), loss="binary_crossentropy")

ones = np.ones((args.batch, 1), dtype="float32")
zeros = np.zeros((args.batch, 1), dtype="float32")
smooth = 0.95 * ones

for step in range(1, args.steps + 1):
    real = sample_real(args.batch)
    fake = np.asarray(generator(sample_noise(args.batch), training=False))
    d_real, _ = discriminator.train_on_batch(real, smooth)
    d_fake, _ = discriminator.train_on_batch(fake, zeros)
    g_loss = gan.train_on_batch(sample_noise(args.batch), ones)

    if step % 250 == 0:
        share, modes = quality(np.asarray(generator(sample_noise(1000), training=False)))
        print(f"step {step:5d}  d_real {d_real:.3f}  d_fake {d_fake:.3f}  g {float(g_loss):.3f}  near a mode {share:.2f}  modes {modes}/6")
