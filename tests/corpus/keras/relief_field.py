"""Coordinate network for a terrain relief: (u, v) -> height and slope shade, fitted to a third of the
pixels and checked on the others. Fixed random Fourier features, residual blocks that begin as the
identity, sign-based optimizer with a very small rate."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

SIDE = 96


def terrain(rng):
    u, v = np.meshgrid(np.linspace(-1, 1, SIDE), np.linspace(-1, 1, SIDE), indexing="ij")
    h = np.zeros_like(u)
    for _ in range(24):
        f = rng.normal(0, 5.0, 2)
        h += np.sin(f[0] * u + f[1] * v + rng.uniform(0, 6.28)) / (1 + 0.2 * np.hypot(*f))
    for _ in range(5):
        c = rng.uniform(-0.8, 0.8, 2)
        h += 2.5 * np.exp(-((u - c[0]) ** 2 + (v - c[1]) ** 2) / 0.02)
    h = (h - h.min()) / (h.max() - h.min())
    gu, gv = np.gradient(h)
    shade = np.clip(0.5 + 8 * (gu - gv), 0, 1)
    coords = np.stack([u.ravel(), v.ravel()], 1)
    return coords.astype("float32"), np.stack([h.ravel(), shade.ravel()], 1).astype("float32")


@keras.saving.register_keras_serializable("relief")
class RandomWaves(layers.Layer):
    def __init__(self, features, scale, seed, **kwargs):
        super().__init__(**kwargs)
        self.features, self.scale, self.seed = features, scale, seed

    def build(self, shape):
        self.freq = self.add_weight(
            shape=(shape[-1], self.features), trainable=False, name="freq",
            initializer=keras.initializers.RandomNormal(stddev=self.scale, seed=self.seed))

    def call(self, x):
        z = ops.matmul(x, self.freq)
        return ops.concatenate([ops.cos(z), ops.sin(z)], -1)

    def get_config(self):
        return {**super().get_config(), "features": self.features, "scale": self.scale, "seed": self.seed}


@keras.saving.register_keras_serializable("relief")
class QuietBlock(layers.Layer):
    """x + W2 gelu(W1 x), with W2 starting at zero."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.inner = layers.Dense(width, activation="gelu")
        self.outer = layers.Dense(width, kernel_initializer="zeros")

    def build(self, shape):
        self.inner.build(shape)
        self.outer.build((*shape[:-1], self.width))

    def call(self, x):
        return x + self.outer(self.inner(x))

    def get_config(self):
        return {**super().get_config(), "width": self.width}


def psnr(a, b):
    return float(-10 * np.log10(np.mean((a - b) ** 2)))


def main():
    keras.utils.set_random_seed(88)
    rng = np.random.default_rng(88)
    coords, target = terrain(rng)
    order = rng.permutation(len(coords))
    fit_idx, rest = order[:len(order) // 3], order[len(order) // 3:]
    mean = target[fit_idx].mean(0)

    net = keras.Sequential([
        keras.Input((2,)),
        RandomWaves(96, scale=6.0, seed=3),
        layers.Dense(96),
        *[QuietBlock(96) for _ in range(3)],
        layers.Dense(2, kernel_initializer="zeros", bias_initializer=keras.initializers.Constant(0.0)),
    ])
    net.layers[-1].bias.assign(mean)
    steps, batch = 750, 512
    net.compile(
        optimizer=keras.optimizers.Lion(keras.optimizers.schedules.CosineDecay(4e-4, steps), weight_decay=0.0),
        loss="mse",
    )
    ds = tf.data.Dataset.from_tensor_slices((coords[fit_idx], target[fit_idx])) \
        .shuffle(len(fit_idx), seed=5).repeat().batch(batch).prefetch(2)
    hist = net.fit(ds, steps_per_epoch=steps // 5, epochs=5, verbose=0)
    print("mse:", " ".join(f"{v:.6f}" for v in hist.history["loss"]))

    os.makedirs("out", exist_ok=True)
    net.save("out/relief_field.keras")
    again = keras.models.load_model("out/relief_field.keras")
    pred = again.predict(coords[rest], batch_size=2048, verbose=0)
    base = np.broadcast_to(mean, target[rest].shape)
    print(f"held-out pixels: psnr {psnr(pred, target[rest]):.2f} dB   mean colour {psnr(base, target[rest]):.2f} dB")
    for k, name in enumerate(("height", "shade")):
        r2 = 1 - np.sum((pred[:, k] - target[rest][:, k]) ** 2) / np.sum((target[rest][:, k] - target[rest][:, k].mean()) ** 2)
        print(f"  {name:6s} R2 {r2:.4f}")


if __name__ == "__main__":
    main()
