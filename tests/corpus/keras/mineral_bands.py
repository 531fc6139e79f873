# Mineral identification from reflectance spectra (tf.data input, Keras fit)
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(31)
MINERALS = ["quartz", "calcite", "gypsum", "kaolinite", "goethite", "olivine", "talc", "halite"]
PER_CLASS = 700
BANDS = 96
rng = np.random.default_rng(31)

# %% synthesise a spectral library: one folder of spectra per mineral
centres = rng.uniform(8, BANDS - 8, size=(len(MINERALS), 3))
depths = rng.uniform(0.15, 0.45, size=(len(MINERALS), 3))
widths = rng.uniform(2.0, 5.0, size=(len(MINERALS), 3))
grid = np.arange(BANDS)


def spectrum(k):
    s = np.full(BANDS, rng.uniform(0.5, 0.9))
    s += rng.uniform(-0.002, 0.002) * (grid - BANDS / 2)
    for c, d, w in zip(centres[k], depths[k], widths[k]):
        c = c + rng.normal() * 0.8
        s -= d * rng.uniform(0.3, 1.2) * np.exp(-0.5 * ((grid - c) / w) ** 2)
    return s + 0.22 * rng.normal(size=BANDS)


def read_library(per_class):
    xs, ys = [], []
    for k in range(len(MINERALS)):
        xs += [spectrum(k) for _ in range(per_class)]
        ys += [k] * per_class
    return np.array(xs, dtype="float32"), np.array(ys, dtype="int32")


x_lib, y_lib = read_library(PER_CLASS)
x_field, y_field = read_library(80)
print("library", x_lib.shape, "field", x_field.shape)

# %% input pipeline
norm = layers.Normalization(axis=None)
norm.adapt(x_lib)

train = (
    tf.data.Dataset.from_tensor_slices((x_lib, y_lib))
    .cache()
    .shuffle(100)
    .batch(64)
    .prefetch(tf.data.AUTOTUNE)
)
field = tf.data.Dataset.from_tensor_slices((x_field, y_field)).batch(160)

# %% model
inputs = keras.Input((BANDS,))
h = norm(inputs)
h = layers.Reshape((BANDS, 1))(h)
h = layers.Conv1D(24, 9, strides=2, activation="relu")(h)
h = layers.Conv1D(32, 7, strides=2, activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(64, activation="relu")(h)
outputs = layers.Dense(len(MINERALS))(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(2e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

# %% train
hist = model.fit(train, validation_data=field, epochs=10, verbose=2)
pred = model.predict(field, verbose=0).argmax(-1)
for k, name in enumerate(MINERALS):
    print(f"{name:10s} {np.mean(pred[y_field == k] == k):.3f}")
print("field accuracy", np.mean(pred == y_field))
