"""Small U-Net that outlines the bright organ in a synthetic slice."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=int, default=50)
parser.add_argument("--epochs", type=int, default=6)
parser.add_argument("--batch", type=int, default=16)
args = parser.parse_args()

keras.utils.set_random_seed(11)


def make_slices(n, size, rng):
    yy, xx = np.mgrid[0:size, 0:size] / size
    images = np.zeros((n, size, size, 1), "float32")
    masks = np.zeros((n, size, size, 1), "float32")
    for i in range(n):
        cy, cx = rng.uniform(0.3, 0.7, 2)
        a, b = rng.uniform(0.12, 0.28, 2)
        inside = ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
        masks[i, ..., 0] = inside
        images[i, ..., 0] = 0.6 * inside + rng.normal(0.2, 0.25, inside.shape)
    return images, masks


def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


def build_unet(size):
    inputs = keras.Input((size, size, 1))
    c1 = conv_block(inputs, 8)
    p1 = layers.MaxPooling2D()(c1)
    c2 = conv_block(p1, 16)
    p2 = layers.MaxPooling2D()(c2)
    mid = conv_block(p2, 32)
    u2 = layers.Conv2DTranspose(16, 2, strides=2)(mid)
    c3 = conv_block(layers.concatenate([u2, c2]), 16)
    u1 = layers.Conv2DTranspose(8, 2, strides=2)(c3)
    c4 = conv_block(layers.concatenate([u1, c1]), 8)
    return keras.Model(inputs, layers.Conv2D(1, 1, activation="sigmoid")(c4))


def dice(y_true, y_pred):
    y_pred = tf.cast(y_pred > 0.5, tf.float32)
    overlap = tf.reduce_sum(y_true * y_pred)
    return 2 * overlap / (tf.reduce_sum(y_true) + tf.reduce_sum(y_pred) + 1e-6)


rng = np.random.default_rng(11)
x_train, y_train = make_slices(240, args.size, rng)
x_val, y_val = make_slices(48, args.size, rng)

model = build_unet(args.size)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="binary_crossentropy", metrics=[dice])
model.fit(x_train, y_train, validation_data=(x_val, y_val),
          epochs=args.epochs, batch_size=args.batch, verbose=2)
print("val:", model.evaluate(x_val, y_val, verbose=0))
