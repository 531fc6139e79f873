"""Small convolutional network that tells four surface textures apart on 32x32 RGB tiles."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

CLASSES = ["striped", "checked", "dotted", "plain"]
SIDE = 32


def draw_tile(kind, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE].astype("float32")
    angle = rng.uniform(0, np.pi)
    u = xx * np.cos(angle) + yy * np.sin(angle)
    v = -xx * np.sin(angle) + yy * np.cos(angle)
    period = rng.uniform(6, 10)
    if kind == 0:
        pattern = np.sin(2 * np.pi * u / period)
    elif kind == 1:
        pattern = np.sign(np.sin(2 * np.pi * u / period) * np.sin(2 * np.pi * v / period))
    elif kind == 2:
        pattern = ((u % period - period / 2) ** 2 + (v % period - period / 2) ** 2 < 5).astype("float32") * 2 - 1
    else:
        pattern = rng.normal(0, 0.4, (SIDE, SIDE))
    tint = rng.uniform(40, 90, 3)
    base = rng.uniform(90, 160, 3)
    tile = base + pattern[..., None] * tint + rng.normal(0, 12, (SIDE, SIDE, 3))
    return np.clip(tile, 0, 255).astype("uint8")


def collect(n, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(CLASSES), n)
    images = np.stack([draw_tile(k, rng) for k in labels])
    return images, labels.astype("int32")


def to_float(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


def flip(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_flip_up_down(image)
    return image, label


def make_dataset(images, labels, batch_size, training):
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.map(to_float, num_parallel_calls=tf.data.AUTOTUNE).cache()
    if training:
        ds = ds.shuffle(len(images), seed=1)
        ds = ds.map(flip, num_parallel_calls=tf.data.AUTOTUNE)
        ds = ds.batch(batch_size)
    return ds.prefetch(tf.data.AUTOTUNE)


def build_model(width, dropout):
    inputs = keras.Input((SIDE, SIDE, 3))
    x = inputs
    for filters in (width, 2 * width, 4 * width):
        x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.Activation("relu")(x)
        x = layers.MaxPooling2D()(x)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(dropout)(x)
    outputs = layers.Dense(len(CLASSES))(x)
    return keras.Model(inputs, outputs)


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--lr", type=float, default=2e-3)
    return parser.parse_args()


def main():
    args = parse_args()
    keras.utils.set_random_seed(7)
    train = make_dataset(*collect(1600, 0), args.batch_size, training=True)
    val = make_dataset(*collect(400, 1), args.batch_size, training=False)

    model = build_model(args.width, args.dropout)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=val, epochs=args.epochs, verbose=2)
    loss, acc = model.evaluate(val, verbose=0)
    print(f"validation accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
