"""Classify microscope crops of sand grains (round, angular, elongated, broken)."""
from __future__ import annotations

import os

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers

CLASS_NAMES = ["round", "angular", "elongated", "broken"]
SIZE = 24


@dataclass(frozen=True)
class Config:
    n_train: int = 1600
    n_test: int = 400
    batch_size: int = 32
    epochs: int = 6
    seed: int = 5


def draw_grain(kind: int, rng: np.random.Generator) -> np.ndarray:
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    cy, cx = rng.uniform(9, 15, 2)
    angle = rng.uniform(0, np.pi)
    u = (xx - cx) * np.cos(angle) + (yy - cy) * np.sin(angle)
    v = -(xx - cx) * np.sin(angle) + (yy - cy) * np.cos(angle)
    r = rng.uniform(5, 7)
    if kind == 0:
        mask = u**2 + v**2 < r**2
    elif kind == 1:
        mask = (np.abs(u) < r * 0.9) & (np.abs(v) < r * 0.9)
    elif kind == 2:
        mask = (u / (1.5 * r)) ** 2 + (v / (0.4 * r)) ** 2 < 1
    else:
        mask = (u**2 + v**2 < (r * 1.2) ** 2) & (u > 0)
    image = mask * rng.uniform(0.5, 0.9) + rng.normal(0, 0.12, (SIZE, SIZE)) + 0.1
    return np.clip(image * 255, 0, 255).astype("uint8")


def make_arrays(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = rng.integers(0, len(CLASS_NAMES), count).astype("int32")
    images = np.stack([draw_grain(k, rng) for k in labels])[..., None]
    return images, labels


def make_dataset(images: np.ndarray, labels: np.ndarray, cfg: Config, training: bool) -> tf.data.Dataset:
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(len(labels), seed=cfg.seed)
    ds = ds.batch(cfg.batch_size)
    ds = ds.map(lambda im, lab: (tf.cast(im, tf.float32) / 255.0, lab), num_parallel_calls=2)
    if training:
        ds = ds.map(lambda im, lab: (tf.image.random_flip_left_right(im), lab))
    return ds.prefetch(tf.data.AUTOTUNE)


def build_model() -> keras.Model:
    inputs = keras.Input((SIZE, SIZE, 1))
    x = inputs
    for width in (16, 32, 48):
        x = layers.Conv2D(width, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.2)(x)
    outputs = layers.Dense(len(CLASS_NAMES), activation="softmax")(x)
    return keras.Model(inputs, outputs)


def confusion(true: np.ndarray, pred: np.ndarray, k: int) -> np.ndarray:
    table = np.zeros((k, k), dtype=int)
    np.add.at(table, (true, pred), 1)
    return table


def report(model: keras.Model, ds: tf.data.Dataset) -> None:
    """Per-class recall, macro F1 and the confusion matrix."""
    y_prob = model.predict(ds, verbose=0)
    y_pred = y_prob.argmax(axis=1)
    y_true = np.concatenate([labels.numpy() for _, labels in ds])
    table = confusion(y_true, y_pred, len(CLASS_NAMES))
    f1s = []
    for i, name in enumerate(CLASS_NAMES):
        recall = table[i, i] / max(table[i].sum(), 1)
        precision = table[i, i] / max(table[:, i].sum(), 1)
        f1s.append(2 * precision * recall / max(precision + recall, 1e-9))
        print(f"{name:>10}: precision {precision:.2f} recall {recall:.2f} f1 {f1s[-1]:.2f}")
    print("accuracy", round(float((y_true == y_pred).mean()), 3), "macro f1", round(float(np.mean(f1s)), 3))
    print(table)


def main() -> None:
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    train_ds = make_dataset(*make_arrays(cfg.n_train, rng), cfg, training=True)
    test_ds = make_dataset(*make_arrays(cfg.n_test, rng), cfg, training=False)
    model = build_model()
    schedule = keras.optimizers.schedules.CosineDecay(2e-3, cfg.epochs * (cfg.n_train // cfg.batch_size))
    model.compile(keras.optimizers.AdamW(schedule, weight_decay=1e-4), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train_ds, epochs=cfg.epochs, verbose=2)
    report(model, test_ds)


if __name__ == "__main__":
    main()
