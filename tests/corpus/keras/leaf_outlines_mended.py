"""Leaf outlines drawn as small bitmaps, one folder per species."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
SPECIES = ["oak", "maple", "willow", "birch", "ginkgo"]
SIZE = 24
PER_SPECIES = 800
yy, xx = np.mgrid[-1:1:SIZE * 1j, -1:1:SIZE * 1j]


def draw(kind):
    dx, dy = rng.uniform(-0.15, 0.15, 2)
    r = np.hypot(xx - dx, yy - dy)
    a = np.arctan2(yy - dy, xx - dx) + rng.normal(0, 0.15)
    s = rng.uniform(0.5, 0.7)
    if kind == 0:
        edge = s * (1 + 0.25 * np.cos(7 * a))
    elif kind == 1:
        edge = s * (1 + 0.35 * np.cos(5 * a))
    elif kind == 2:
        edge = s * 0.45 / np.sqrt((0.35 * np.cos(a)) ** 2 + np.sin(a) ** 2 + 0.02)
    elif kind == 3:
        edge = s * (1 + 0.1 * np.cos(3 * a))
    else:
        edge = s * (1 + 0.5 * np.cos(2 * a))
    img = (r < edge).astype("float32")
    return img + rng.normal(0, 0.35, img.shape)


def load_folder(per_species):
    images, labels = [], []
    for k in range(len(SPECIES)):
        for _ in range(per_species):
            images.append(draw(k))
            labels.append(k)
    return np.array(images, "float32")[..., None], np.array(labels, "int32")


x_train, y_train = load_folder(PER_SPECIES)
x_val, y_val = load_folder(100)

train = (
    tf.data.Dataset.from_tensor_slices((x_train, y_train))
    .cache()
    .shuffle(len(x_train), seed=1)
    .batch(32)
    .prefetch(1)
)
val = tf.data.Dataset.from_tensor_slices((x_val, y_val)).batch(100)

model = keras.Sequential([
    layers.Input((SIZE, SIZE, 1)),
    layers.Conv2D(12, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Conv2D(24, 3, padding="same", activation="relu"),
    layers.MaxPooling2D(),
    layers.Flatten(),
    layers.Dense(48, activation="relu"),
    layers.Dense(len(SPECIES)),
])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train, validation_data=val, epochs=4, verbose=2)
pred = model.predict(x_val, verbose=0).argmax(1)
for k, name in enumerate(SPECIES):
    print(f"{name:8s} recall {np.mean(pred[y_val == k] == k):.2f}")
