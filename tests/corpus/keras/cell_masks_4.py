"""Segment cells in synthetic microscope tiles with a very small U-Net."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIZE = 32
os.makedirs("out", exist_ok=True)


def draw_tile(rng):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    background = rng.uniform(0.2, 0.5) + 0.15 * np.sin(xx / rng.uniform(3, 9) + rng.uniform(0, 6))
    mask = np.zeros((SIZE, SIZE), bool)
    img = background.copy()
    for _ in range(rng.integers(1, 4)):
        cy, cx = rng.uniform(5, SIZE - 5, 2)
        ry, rx = rng.uniform(3, 7, 2)
        d = ((yy - cy) / ry) ** 2 + ((xx - cx) / rx) ** 2
        mask |= d < 1
        img += 0.35 * np.exp(-d * 0.8)
    img += rng.normal(0, 0.12, img.shape)
    return img.astype("float32")[..., None], mask.astype("float32")[..., None]


def make_split(n, seed):
    rng = np.random.default_rng(seed)
    tiles = [draw_tile(rng) for _ in range(n)]
    return np.stack([t[0] for t in tiles]), np.stack([t[1] for t in tiles])


def conv(x, f):
    x = layers.Conv2D(f, 3, padding="same", activation="relu", kernel_initializer="he_normal")(x)
    return layers.Conv2D(f, 3, padding="same", activation="relu", kernel_initializer="he_normal")(x)


def unet():
    inp = keras.Input((SIZE, SIZE, 1))
    c1 = conv(inp, 8)
    c2 = conv(layers.MaxPooling2D()(c1), 16)
    c3 = conv(layers.MaxPooling2D()(c2), 24)
    u2 = conv(layers.Concatenate()([layers.UpSampling2D()(c3), c2]), 16)
    u1 = conv(layers.Concatenate()([layers.UpSampling2D()(u2), c1]), 8)
    out = layers.Conv2D(1, 1, activation="sigmoid")(u1)
    return keras.Model(inp, out)


class TileTrainer:
    def __init__(self, epochs=9, batch=25, lr=2e-3):
        self.epochs, self.batch, self.lr = epochs, batch, lr
        self.path = "out/cells.weights.h5"
        self.model = unet()

    def fit(self, train, val):
        self.model.compile(
            optimizer=keras.optimizers.Adam(self.lr),
            loss="binary_crossentropy",
            metrics=[keras.metrics.MeanIoU(num_classes=2, name="iou")],
        )
        keep_best = keras.callbacks.ModelCheckpoint(
            self.path, monitor="val_iou", mode="max", save_best_only=True, save_weights_only=True
        )
        ds = tf.data.Dataset.from_tensor_slices(train).shuffle(2000, seed=0).batch(self.batch)
        ds = ds.map(self.flip, num_parallel_calls=1).prefetch(1)
        self.model.fit(
            ds, validation_data=val, epochs=self.epochs, callbacks=[keep_best], verbose=2
        )
        self.model.load_weights(self.path)

    @staticmethod
    def flip(x, y):
        both = tf.image.random_flip_left_right(tf.concat([x, y], axis=-1))
        return both[..., :1], both[..., 1:]

    def report(self, x, y):
        results = self.model.evaluate(x, y, verbose=0, return_dict=True)
        prob = self.model.predict(x, verbose=0)
        hit = (prob > 0.5).astype("float32")
        dice = 2 * (hit * y).sum() / (hit.sum() + y.sum())
        everything = 2 * y.sum() / (np.ones_like(y).sum() + y.sum())
        print({k: round(float(v), 3) for k, v in results.items()})
        print(f"test dice {dice:.3f} (marking every pixel gives {everything:.3f})")


if __name__ == "__main__":
    keras.utils.set_random_seed(21)
    train, val, test = make_split(400, 1), make_split(100, 2), make_split(200, 3)
    print("share of cell pixels:", round(float(train[1].mean()), 3))
    trainer = TileTrainer()
    trainer.fit(train, val)
    trainer.report(*test)
