import math

import keras
import numpy as np
from keras import layers

SEED = 21
keras.utils.set_random_seed(SEED)

CONFIG = {
    "n_train": 1200,
    "n_test": 300,
    "size": 20,
    "batch": 48,
    "epochs": 10,
    "lr": 2e-3,
}
KINDS = ("stripes", "spots", "plain", "ring")


def draw_leaf(kind, size, rng):
    yy, xx = np.mgrid[0:size, 0:size] / size
    img = np.full((size, size), 0.4)
    if kind == "stripes":
        img += 0.3 * np.sin(rng.uniform(18, 28) * (xx + rng.uniform(-0.5, 0.5) * yy))
    elif kind == "spots":
        for _ in range(rng.integers(3, 7)):
            cx, cy = rng.uniform(0.1, 0.9, 2)
            img += 0.6 * np.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 0.004)
    elif kind == "ring":
        r = np.sqrt((xx - 0.5) ** 2 + (yy - 0.5) ** 2)
        img += 0.5 * np.exp(-((r - rng.uniform(0.25, 0.4)) ** 2) / 0.003)
    return img + rng.normal(0, 0.15, img.shape)


def make_split(n, size, rng):
    y = rng.integers(0, len(KINDS), n)
    x = np.stack([draw_leaf(KINDS[k], size, rng) for k in y])
    return x[..., None].astype("float32"), y.astype("int32")


class LeafSequence(keras.utils.PyDataset):
    def __init__(self, x, y, batch, augment, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y = x, y
        self.batch = batch
        self.augment = augment
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.x) / self.batch)

    def __getitem__(self, i):
        rows = slice(i * self.batch, (i + 1) * self.batch)
        xb, yb = self.x[rows], self.y[rows]
        if self.augment:
            if self.rng.random() < 0.5:
                xb = xb[:, :, ::-1]
            xb = xb + self.rng.normal(0, 0.02, xb.shape).astype("float32")
        return xb, yb

    def on_epoch_end(self):
        if self.augment:
            order = self.rng.permutation(len(self.x))
            self.x = self.x[order]


def build(cfg):
    model = keras.Sequential([
        keras.Input((cfg["size"], cfg["size"], 1)),
        layers.Conv2D(12, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Conv2D(24, 3, activation="relu"),
        layers.GlobalMaxPooling2D(),
        layers.Dense(32, activation="relu"),
        layers.Dense(len(KINDS), activation="softmax"),
    ])
    model.compile(
        optimizer=keras.optimizers.Adam(cfg["lr"]),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main(cfg):
    rng = np.random.default_rng(SEED)
    train = LeafSequence(*make_split(cfg["n_train"], cfg["size"], rng), cfg["batch"], True)
    test = LeafSequence(*make_split(cfg["n_test"], cfg["size"], rng), cfg["batch"], False)
    model = build(cfg)
    model.fit(train, validation_data=test, epochs=cfg["epochs"], verbose=2)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.3f}  test accuracy {acc:.3f}")


if __name__ == "__main__":
    main(CONFIG)
