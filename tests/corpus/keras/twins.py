import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class PairSequence(keras.utils.PyDataset):
    """Yields ((left, right), same?) with half of the pairs of the same digit."""

    def __init__(self, images, labels, batch_size=64, steps=60, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels = images, labels
        self.batch_size, self.steps = batch_size, steps
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(labels == c) for c in range(10)]

    def __len__(self):
        return self.steps

    def __getitem__(self, idx):
        left, right, same = [], [], []
        for k in range(self.batch_size):
            c = self.rng.integers(10)
            if k % 2 == 0:
                d = c
            else:
                d = (c + self.rng.integers(1, 10)) % 10
            left.append(self.rng.choice(self.by_class[c]))
            right.append(self.rng.choice(self.by_class[d]))
            same.append(float(c == d))
        x = (self.images[left], self.images[right])
        return x, np.array(same, "float32")[:, None]


class Closeness(layers.Layer):
    """1 for equal embeddings, towards 0 with the distance."""

    def call(self, a, b):
        gap = ops.mean(ops.square(a - b), axis=-1, keepdims=True)
        return ops.exp(-gap)


def pair_loss(negative_weight):
    def loss(y_true, p):
        near = y_true * ops.log(p + 1e-7)
        far = (1.0 - y_true) * ops.log(1.0 - p)
        return -ops.mean(near + negative_weight * far)
    return loss


def same_accuracy(y_true, p):
    return ops.mean(ops.cast(ops.equal(y_true > 0.5, p > 0.5), "float32"))


def encoder():
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same", activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(32),
    ], name="tower")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--negative-weight", type=float, default=1.0)
    ap.add_argument("--lr", type=float, default=1e-3)
    args = ap.parse_args()
    keras.utils.set_random_seed(21)

    digits = load_digits()
    images = (digits.images / 16.0)[..., None].astype("float32")
    x_tr, x_te, y_tr, y_te = train_test_split(images, digits.target, test_size=0.25,
                                              stratify=digits.target, random_state=0)

    tower = encoder()
    a, b = keras.Input((8, 8, 1), name="left"), keras.Input((8, 8, 1), name="right")
    model = keras.Model([a, b], Closeness()(tower(a), tower(b)))
    model.compile(optimizer=keras.optimizers.Adam(args.lr), loss=pair_loss(args.negative_weight),
                  metrics=[same_accuracy])
    model.fit(PairSequence(x_tr, y_tr), validation_data=PairSequence(x_te, y_te, steps=10, seed=9),
              epochs=args.epochs, verbose=2)

    ref, query = tower.predict(x_tr, verbose=0), tower.predict(x_te, verbose=0)
    nearest = ((query[:, None] - ref[None]) ** 2).sum(-1).argmin(1)
    print("1-NN accuracy in embedding space: %.3f" % (y_tr[nearest] == y_te).mean())


if __name__ == "__main__":
    main()
