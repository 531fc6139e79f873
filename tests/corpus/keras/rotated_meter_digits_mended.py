"""Reading digits from meters that are mounted at arbitrary angles.

Training crops come from a scanner (always upright), pictures in the field are
tilted by up to +-75 degrees, so the input pipeline tilts the crops as well.
"""
import math

import numpy as np
import tensorflow as tf
import keras
from keras import layers
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

SEED = 11
BATCH = 64
EPOCHS = 14
MAX_TILT = 75.0
SIDE = 16

keras.utils.set_random_seed(SEED)


def load():
    d = load_digits()
    keep = np.isin(d.target, [0, 1, 2, 3, 4, 5, 7, 8])      # 6 and 9 are the same thing when tilted
    img = d.images[keep].astype("float32") / 16.0
    lab = np.searchsorted([0, 1, 2, 3, 4, 5, 7, 8], d.target[keep]).astype("int32")
    img = np.stack([ndimage.zoom(i, SIDE / 8, order=1) for i in img])[..., None]
    return train_test_split(img, lab, test_size=0.25, stratify=lab, random_state=SEED)


def tilt_field_pictures(images, seed):
    rng = np.random.default_rng(seed)
    out = [ndimage.rotate(im[..., 0], rng.uniform(-MAX_TILT, MAX_TILT), reshape=False, order=1)
           for im in images]
    return np.stack(out)[..., None].astype("float32")


def rotate(img, degrees):
    a = degrees * math.pi / 180.0
    c, s = tf.cos(a), tf.sin(a)
    mid = (SIDE - 1) / 2.0
    tx = mid - c * mid + s * mid
    ty = mid - s * mid - c * mid
    row = tf.stack([c, -s, tx, s, c, ty, tf.zeros_like(c), tf.zeros_like(c)])
    out = tf.raw_ops.ImageProjectiveTransformV3(
        images=img[None], transforms=row[None], output_shape=[SIDE, SIDE],
        interpolation="BILINEAR", fill_mode="CONSTANT", fill_value=0.0)
    return out[0]


def augment(img, label):
    degrees = tf.random.uniform([], -MAX_TILT, MAX_TILT)
    img = rotate(img, degrees)
    img = tf.clip_by_value(img + tf.random.normal(tf.shape(img), stddev=0.03), 0.0, 1.0)
    return tf.ensure_shape(img, [SIDE, SIDE, 1]), label


def build():
    inp = layers.Input((SIDE, SIDE, 1))
    x = layers.Conv2D(24, 3, padding="same", activation="relu")(inp)
    x = layers.MaxPooling2D()(x)
    x = layers.Conv2D(48, 3, padding="same", activation="relu")(x)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dense(96, activation="relu")(x)
    x = layers.Dropout(0.2)(x)
    out = layers.Dense(8)(x)
    return keras.Model(inp, out, name="meter_net")


def main():
    x_train, x_field, y_train, y_field = load()
    x_val, x_test, y_val, y_test = train_test_split(
        x_field, y_field, test_size=0.6, stratify=y_field, random_state=SEED)
    x_val, x_test = tilt_field_pictures(x_val, 1), tilt_field_pictures(x_test, 2)

    train = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
             .shuffle(len(x_train), seed=SEED)
             .map(augment, num_parallel_calls=tf.data.AUTOTUNE)
             .batch(BATCH)
             .prefetch(2))
    val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(256)

    model = build()
    model.compile(keras.optimizers.Adam(2e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    hist = model.fit(train, validation_data=val, epochs=EPOCHS, verbose=0)
    for e in range(0, EPOCHS, 3):
        print(f"epoch {e + 1:2d}  train acc {hist.history['accuracy'][e]:.3f}  "
              f"val acc {hist.history['val_accuracy'][e]:.3f}")
    pred = model.predict(x_test, verbose=0).argmax(-1)
    base = np.bincount(y_train).argmax()
    print(f"field pictures: accuracy {np.mean(pred == y_test):.3f} "
          f"(most frequent class {np.mean(y_test == base):.3f})")


if __name__ == "__main__":
    main()
