import keras
import numpy as np
from keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
centres = rng.normal(size=(5, 16)) * 2
label = rng.integers(0, 5, 2000)
x = (centres[label] + rng.normal(size=(2000, 16))).astype("float32")

inputs = keras.Input((16,))
h = layers.Dense(64, activation="relu")(inputs)
h = layers.Dense(64, activation="relu")(h)
outputs = layers.Dense(5, activation="softmax", dtype="float32")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, label, epochs=3, batch_size=32, verbose=2)
