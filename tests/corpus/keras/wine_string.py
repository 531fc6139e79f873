import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
centres = rng.normal(size=(4, 10)) * 1.5
label = rng.integers(0, 4, 1600)
x = (centres[label] + rng.normal(size=(1600, 10))).astype("float32")

inputs = keras.Input((10,))
h = keras.layers.Dense(32, activation="relu")(inputs)
h = keras.layers.Dense(32, activation="relu")(h)
outputs = keras.layers.Dense(4)(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer="adam",
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(x, label, epochs=3, batch_size=32, verbose=2)
