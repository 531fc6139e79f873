"""Direction of brush strokes on small tiles, with augmentation inside the model."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse

import keras
import numpy as np
from keras import layers

DIRECTIONS = ["left", "right", "up", "down"]


class StrokeTiles(keras.utils.PyDataset):
    """Draws batches of tiles: a wedge that narrows towards its direction."""

    def __init__(self, n_batches, batch, seed, size=20):
        super().__init__()
        self.n_batches, self.batch, self.seed, self.size = n_batches, batch, seed, size

    def __len__(self):
        return self.n_batches

    def draw(self, rng, k):
        s = self.size
        img = np.zeros((s, s))
        length, width = rng.integers(8, 13), rng.integers(3, 5)
        r0, c0 = rng.integers(5, s - 5), rng.integers(0, s - length)
        for j in range(length):
            w = int(round(width * (1 - j / length)))
            img[max(r0 - w, 0): r0 + w + 1, c0 + j] = rng.uniform(0.6, 1.0)
        return [np.fliplr(img), img, np.rot90(img), np.rot90(img, -1)][k]

    def __getitem__(self, i):
        rng = np.random.default_rng((self.seed, i))
        y = rng.integers(0, 4, self.batch)
        x = np.stack([self.draw(rng, k) for k in y])
        x = x + rng.normal(0, 0.15, x.shape)
        return x[..., None].astype("float32"), y.astype("int64")


def augmenter():
    return keras.Sequential(
        [
            layers.RandomTranslation(0.1, 0.1, fill_mode="constant"),
            layers.RandomFlip("horizontal"),
            layers.GaussianNoise(0.05),
        ],
        name="augment",
    )


def build(size):
    inp = keras.Input((size, size, 1))
    h = augmenter()(inp)
    for filters in (16, 32):
        h = layers.Conv2D(filters, 3, padding="same", activation="relu")(h)
        h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    h = layers.Dense(48, activation="relu")(h)
    return keras.Model(inp, layers.Dense(4)(h))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--peak-lr", type=float, default=2e-3)
    a = p.parse_args()

    keras.utils.set_random_seed(6)
    train = StrokeTiles(50, a.batch, seed=100)
    test = StrokeTiles(12, a.batch, seed=200)
    model = build(train.size)
    lr = keras.optimizers.schedules.CosineDecay(a.peak_lr, a.epochs * len(train))
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=test, epochs=a.epochs, verbose=2)

    pred = np.concatenate([model.predict_on_batch(test[i][0]).argmax(1) for i in range(len(test))])
    true = np.concatenate([test[i][1] for i in range(len(test))])
    for k, name in enumerate(DIRECTIONS):
        print(f"recall {name}: {(pred[true == k] == k).mean():.3f}")
    print(f"test accuracy {(pred == true).mean():.3f} (chance 0.25)")


if __name__ == "__main__":
    main()
