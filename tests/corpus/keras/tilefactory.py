"""Sorts photographed floor tiles by glaze defect: none, crack, bubble, chip."""
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers

DEFECTS = ("none", "crack", "bubble", "chip")


@dataclass
class Config:
    size: int = 24
    n_train: int = 1600
    n_val: int = 400
    batch_size: int = 32
    epochs: int = 6
    lr: float = 2e-3
    seed: int = 13


def draw_tile(kind, size, rng):
    img = 0.6 + 0.08 * rng.normal(size=(size, size))
    yy, xx = np.mgrid[:size, :size]
    if kind == 1:
        x = rng.integers(6, size - 6)
        slope = rng.uniform(-0.4, 0.4)
        img[np.abs(xx - x - slope * (yy - size / 2)) < 0.9] -= 0.35
    elif kind == 2:
        for _ in range(rng.integers(2, 5)):
            cx, cy = rng.integers(4, size - 4, 2)
            img[(xx - cx) ** 2 + (yy - cy) ** 2 < 5] += 0.35
    elif kind == 3:
        cx, cy = rng.choice([0, size - 1], 2)
        img[np.abs(xx - cx) + np.abs(yy - cy) < rng.integers(6, 10)] = 0.15
    return np.clip(img, 0, 1)


def make_split(n, cfg, rng):
    y = rng.integers(0, len(DEFECTS), n)
    x = np.stack([draw_tile(k, cfg.size, rng) for k in y])[..., None].astype("float32")
    return x, y.astype("int64")


def make_dataset(x, y, cfg, training):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(2000, seed=cfg.seed).batch(cfg.batch_size)
    if training:
        flip = keras.Sequential([layers.RandomFlip("horizontal")])
        ds = ds.map(lambda a, b: (flip(a, training=True), b))
    return ds.prefetch(tf.data.AUTOTUNE)


def build_model(cfg):
    inputs = keras.Input((cfg.size, cfg.size, 1))
    h = inputs
    for width in (16, 32):
        h = layers.Conv2D(width, 3, padding="same", use_bias=False)(h)
        h = layers.BatchNormalization(momentum=0.9)(h)
        h = layers.ReLU()(h)
        h = layers.MaxPooling2D()(h)
    h = layers.Flatten()(h)
    h = layers.Dropout(0.2)(h)
    outputs = layers.Dense(len(DEFECTS), activation="softmax")(h)
    return keras.Model(inputs, outputs)


def report(model, ds):
    truth = np.concatenate([y.numpy() for _, y in ds])
    pred = model.predict(ds, verbose=0).argmax(1)
    table = np.zeros((len(DEFECTS), len(DEFECTS)), int)
    np.add.at(table, (truth, pred), 1)
    print("confusion (rows: truth)")
    print(table)
    for k, name in enumerate(DEFECTS):
        precision = table[k, k] / max(table[:, k].sum(), 1)
        recall = table[k, k] / max(table[k].sum(), 1)
        print(f"{name:8s} precision {precision:.2f}  recall {recall:.2f}")
    print(f"accuracy {np.trace(table) / table.sum():.3f}")


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    train = make_dataset(*make_split(cfg.n_train, cfg, rng), cfg, training=True)
    val = make_dataset(*make_split(cfg.n_val, cfg, rng), cfg, training=False)

    model = build_model(cfg)
    model.compile(
        optimizer=keras.optimizers.Adam(cfg.lr),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=val, epochs=cfg.epochs, verbose=2)
    report(model, val)


if __name__ == "__main__":
    main()
