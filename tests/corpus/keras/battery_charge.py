"""State-of-charge estimator for a battery pack, from terminal measurements.

The charge is a fraction of the capacity (0 = empty, 1 = full).
"""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SEED = 5
BATCH = 128
keras.utils.set_random_seed(SEED)


def simulate(n, rng):
    soc = rng.beta(1.6, 1.4, n)
    current = rng.normal(0, 1.5, n)
    temp = rng.uniform(-5, 40, n)
    resistance = 0.08 + 0.05 * np.exp(-temp / 20)
    ocv = 3.2 + 0.7 * soc + 0.18 * np.tanh(8 * (soc - 0.9)) - 0.25 * np.exp(-18 * soc)
    volt = ocv - resistance * current + rng.normal(0, 0.01, n)
    age = rng.uniform(0, 1, n)
    volt -= 0.05 * age * current
    return np.stack([volt, current, temp, age], 1), soc


class Scaler:
    def fit(self, x):
        self.mean, self.std = x.mean(0), x.std(0)
        return self

    def __call__(self, x):
        return ((x - self.mean) / self.std).astype("float32")


def as_dataset(x, y, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=SEED)
    ds = ds.batch(BATCH)
    ds = ds.map(lambda a, b: (a, tf.cast(b, tf.int32)),
                num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(1)


def build_model():
    net = keras.Sequential([
        keras.Input((4,)),
        layers.Dense(48, activation="gelu"),
        layers.Dense(48, activation="gelu"),
        layers.Dense(1, activation="sigmoid"),
    ])
    net.compile(optimizer=keras.optimizers.AdamW(4e-3, weight_decay=1e-4), loss="mse")
    return net


def main():
    os.makedirs("out", exist_ok=True)
    rng = np.random.default_rng(SEED)
    x, soc = simulate(6000, rng)
    x_bench, soc_bench = simulate(1500, rng)
    scale = Scaler().fit(x)

    train = as_dataset(scale(x[:5000]), soc[:5000], True)
    valid = as_dataset(scale(x[5000:]), soc[5000:], False)
    net = build_model()
    net.fit(train, validation_data=valid, epochs=15, verbose=2,
            callbacks=[keras.callbacks.CSVLogger("out/battery.csv")])

    estimate = net.predict(scale(x_bench), verbose=0)[:, 0]
    mae = np.abs(estimate - soc_bench).mean()
    flat = np.abs(np.median(soc[:5000]) - soc_bench).mean()
    print(f"bench MAE {mae:.4f}   (constant guess {flat:.4f})")
    print(f"estimates: min {estimate.min():.3f} mean {estimate.mean():.3f} max {estimate.max():.3f}")


if __name__ == "__main__":
    main()
