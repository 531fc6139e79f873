import argparse
import numpy as np
import tensorflow as tf
import keras

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=25)
ap.add_argument("--batch", type=int, default=64)
ap.add_argument("--code", type=int, default=6)
ap.add_argument("--lr", type=float, default=1e-3)
ap.add_argument("--seed", type=int, default=4)
args = ap.parse_args()

keras.utils.set_random_seed(args.seed)
rng = np.random.default_rng(args.seed)
BINS = 96


def frames(n):
    """Audio magnitude frames: a harmonic stack with a moving pitch plus one noise band."""
    f = np.arange(BINS)[None, :]
    pitch = rng.uniform(9, 20, (n, 1))
    tilt = rng.uniform(0.2, 0.9, (n, 1))
    out = np.zeros((n, BINS))
    for h in range(1, 5):
        out += tilt ** (h - 1) * np.exp(-0.5 * ((f - h * pitch) / 2.5) ** 2)
    centre = rng.uniform(20, 90, (n, 1))
    gain = rng.uniform(0, 0.8, (n, 1))
    out += gain * np.exp(-0.5 * ((f - centre) / 7.0) ** 2)
    return (out + rng.normal(0, 0.02, out.shape)).astype("float32")


class Encoder(keras.Model):
    def __init__(self, code):
        super().__init__()
        self.h1 = keras.layers.Dense(128, activation="gelu")
        self.h2 = keras.layers.Dense(64, activation="gelu")
        self.out = keras.layers.Dense(code)

    def call(self, x):
        return self.out(self.h2(self.h1(x)))


class Decoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.h1 = keras.layers.Dense(64, activation="gelu")
        self.h2 = keras.layers.Dense(128, activation="gelu")
        self.out = keras.layers.Dense(BINS)

    def call(self, z):
        return self.out(self.h2(self.h1(z)))


train = frames(6000)
valid = frames(800)
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(6000, seed=1).batch(args.batch, drop_remainder=True)

encoder, decoder = Encoder(args.code), Decoder()
decoder(encoder(train[:2]))
opt = keras.optimizers.Adam(args.lr)
weights = encoder.trainable_variables + decoder.trainable_variables


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        rec = decoder(encoder(x))
        loss = tf.reduce_mean(tf.square(rec - x))
    grads = tape.gradient(loss, weights)
    opt.apply_gradients(zip(grads, weights))
    return loss


var = float(np.mean((valid - train.mean(0)) ** 2))
for epoch in range(args.epochs):
    losses = [float(step(x)) for x in ds]
    rec = decoder(encoder(valid)).numpy()
    err = float(np.mean((rec - valid) ** 2))
    print(f"epoch {epoch:2d}  train {np.mean(losses):.5f}  valid {err:.5f}  unexplained {err / var:.3f}")
