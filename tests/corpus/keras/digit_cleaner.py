import argparse

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

parser = argparse.ArgumentParser()
parser.add_argument("--noise", type=float, default=0.35)
parser.add_argument("--code", type=int, default=24)
parser.add_argument("--epochs", type=int, default=40)


def entropy(p):
    p = np.clip(p, 1e-7, 1 - 1e-7)
    return float(np.mean(-p * np.log(p) - (1 - p) * np.log(1 - p)))


def corrupted_stream(clean, noise, batch_size, seed):
    g = np.random.default_rng(seed)
    while True:
        idx = g.integers(0, len(clean), size=batch_size)
        target = clean[idx]
        dirty = target + noise * g.normal(size=target.shape)
        dropped = g.random(target.shape) < 0.15
        dirty[dropped] = 0.0
        yield dirty.astype("float32"), target


def build(code):
    inputs = keras.Input((64,))
    h = layers.Dense(128, activation="elu")(inputs)
    z = layers.Dense(code, name="code")(h)
    h = layers.Dense(128, activation="elu")(z)
    outputs = layers.Dense(64, activation="sigmoid")(h)
    return keras.Model(inputs, outputs)


class Report(keras.callbacks.Callback):
    def __init__(self, floor, every=10):
        super().__init__()
        self.floor, self.every = floor, every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every == 0:
            above = logs["loss"] - self.floor
            print(f"epoch {epoch + 1}: loss {logs['loss']:.4f}, {above:.4f} above the entropy of the pixels")


def main():
    args = parser.parse_args()
    keras.utils.set_random_seed(1)
    pixels = (load_digits().data / 16.0).astype("float32")
    pixels = pixels[np.random.default_rng(1).permutation(len(pixels))]
    clean, held = pixels[:1400], pixels[1400:]

    model = build(args.code)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy")
    model.fit(
        corrupted_stream(clean, args.noise, 64, seed=5),
        steps_per_epoch=22, epochs=args.epochs, callbacks=[Report(entropy(clean))], verbose=0,
    )

    dirty, target = next(corrupted_stream(held, args.noise, 397, seed=6))
    cleaned = model.predict(dirty, verbose=0)
    mean_image = clean.mean(axis=0, keepdims=True)
    print(f"mse of the noisy input {np.mean((dirty - target) ** 2):.4f}")
    print(f"mse of the mean image  {np.mean((mean_image - target) ** 2):.4f}")
    print(f"mse after cleaning     {np.mean((cleaned - target) ** 2):.4f}")


if __name__ == "__main__":
    main()
