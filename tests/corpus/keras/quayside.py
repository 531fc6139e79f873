"""Two-stage transfer learning: a texture backbone is adapted to silhouettes of vessels at a quay."""
from __future__ import annotations

from typing import Tuple

import keras
import numpy as np
from keras import layers

SIZE = 28
VESSELS = ["barge", "tug", "sailboat", "ferry", "crane_ship"]


def _grid() -> Tuple[np.ndarray, np.ndarray]:
    return np.mgrid[0:SIZE, 0:SIZE].astype("float32")


def make_textures(n: int, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray]:
    """Source task: four orientations of a grating."""
    yy, xx = _grid()
    labels = rng.integers(0, 4, n)
    images = np.empty((n, SIZE, SIZE, 1), "float32")
    for i, k in enumerate(labels):
        angle = np.pi * k / 4 + rng.normal(0, 0.08)
        wave = np.sin((xx * np.cos(angle) + yy * np.sin(angle)) * rng.uniform(0.7, 1.1) + rng.uniform(0, 6))
        images[i, :, :, 0] = wave + rng.normal(0, 0.4, wave.shape)
    return images, labels


def draw_vessel(kind: int, rng: np.random.Generator) -> np.ndarray:
    img = np.zeros((SIZE, SIZE), "float32")
    x, y = rng.integers(3, 10), rng.integers(14, 21)
    img[y:y + 4, x:x + 14] = 1.0
    if kind == 1:
        img[y - 4:y, x + 1:x + 5] = 1.0
    elif kind == 2:
        for j in range(10):
            img[y - 10 + j, x + 6:x + 7 + j // 2] = 1.0
    elif kind == 3:
        img[y - 4:y, x + 1:x + 13] = 1.0
        img[y - 3:y - 1, x + 2:x + 12:2] = 0.0
    elif kind == 4:
        img[y - 9:y, x + 8:x + 10] = 1.0
        img[y - 9:y - 7, x + 2:x + 14] = 1.0
    return img


def make_vessels(n: int, rng: np.random.Generator) -> Tuple[np.ndarray, np.ndarray]:
    labels = rng.integers(0, len(VESSELS), n)
    images = np.stack([draw_vessel(k, rng) for k in labels])[..., None]
    flip = rng.random(n) < 0.5
    images[flip] = images[flip, :, ::-1]
    return (images * 1.6 - 0.3 + rng.normal(0, 0.5, images.shape)).astype("float32"), labels


def build_backbone() -> keras.Model:
    inputs = keras.Input((SIZE, SIZE, 1))
    h = layers.Conv2D(12, 5, strides=2, padding="same", activation="relu")(inputs)
    h = layers.Conv2D(24, 3, padding="same", activation="relu")(h)
    h = layers.MaxPooling2D()(h)
    h = layers.Conv2D(32, 3, padding="same", activation="relu")(h)
    h = layers.GlobalAveragePooling2D()(h)
    return keras.Model(inputs, h, name="backbone")


def pretrain(backbone: keras.Model, rng: np.random.Generator) -> None:
    x, y = make_textures(1200, rng)
    probe = keras.Sequential([backbone, layers.Dense(4)])
    probe.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    log = probe.fit(x, y, batch_size=32, epochs=4, verbose=0)
    print(f"pretraining accuracy {log.history['accuracy'][-1]:.3f}")


def compile_model(model: keras.Model, lr: float) -> None:
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )


def main() -> None:
    keras.utils.set_random_seed(41)
    rng = np.random.default_rng(41)
    backbone = build_backbone()
    pretrain(backbone, rng)

    x, y = make_vessels(2200, rng)
    x_train, y_train, x_val, y_val = x[:1800], y[:1800], x[1800:], y[1800:]

    backbone.trainable = False
    inputs = keras.Input((SIZE, SIZE, 1))
    features = backbone(inputs, training=False)
    features = layers.Dropout(0.1)(features)
    outputs = layers.Dense(len(VESSELS))(features)
    model = keras.Model(inputs, outputs, name="quayside")

    compile_model(model, lr=5e-3)
    warmup = model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=32, epochs=3, verbose=2)
    print(f"after the head: {warmup.history['val_accuracy'][-1]:.3f}")

    backbone.trainable = True
    model.optimizer.learning_rate.assign(1e-3)
    stop = keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, restore_best_weights=True)
    tuned = model.fit(
        x_train,
        y_train,
        validation_data=(x_val, y_val),
        batch_size=32,
        epochs=14,
        callbacks=[stop],
        verbose=2,
    )
    print(f"after fine-tuning: {max(tuned.history['val_accuracy']):.3f}")


if __name__ == "__main__":
    main()
