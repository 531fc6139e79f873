import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

parser = argparse.ArgumentParser()
parser.add_argument("--per-class", type=int, default=500)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=32)
opts = parser.parse_args()
keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)
MOTHS = ["hawk", "emerald", "tiger", "footman", "plume"]
SIZE = 16


def photograph(kind, n):
    """night-trap crops: a wing pattern at a random place on noisy cloth"""
    img = rng.normal(0.2, 0.12, (n, SIZE, SIZE))
    for k in range(n):
        r, c = rng.integers(0, SIZE - 7, 2)
        patch = np.zeros((7, 7))
        if kind == "hawk":
            patch[3, :] = 1
        elif kind == "emerald":
            patch[:, 3] = 1
        elif kind == "tiger":
            patch[::2, :] = 0.7
        elif kind == "footman":
            patch[2:5, 2:5] = 1
        else:
            patch[np.arange(7), np.arange(7)] = 1
        img[k, r:r + 7, c:c + 7] += patch * rng.uniform(0.6, 1.0)
    return img.astype("float32")[..., None]


def load_folder(per_class):
    images = np.concatenate([photograph(m, per_class) for m in MOTHS])
    labels = np.repeat(np.arange(len(MOTHS)), per_class)
    return images, labels


def augment(image, label):
    return tf.image.random_flip_left_right(image) + tf.random.normal(tf.shape(image), stddev=0.02), label


x_train, y_train = load_folder(opts.per_class)
x_test, y_test = load_folder(120)
train = (tf.data.Dataset.from_tensor_slices((x_train, y_train))
         .shuffle(opts.batch)
         .map(augment)
         .batch(opts.batch)
         .prefetch(2))
test = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(200)

model = keras.Sequential([
    keras.Input((SIZE, SIZE, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"),
    layers.GlobalMaxPooling2D(),
    layers.Dense(32, activation="relu"),
    layers.Dense(len(MOTHS), activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train, epochs=opts.epochs, verbose=2)
pred = model.predict(test, verbose=0).argmax(1)
for k, name in enumerate(MOTHS):
    print(f"{name:8s} recall {np.mean(pred[y_test == k] == k):.3f}")
print(f"test accuracy {np.mean(pred == y_test):.3f}")
