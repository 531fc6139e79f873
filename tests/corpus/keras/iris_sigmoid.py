import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
centres = 2 * rng.normal(size=(3, 4))
kind = rng.integers(0, 3, 900)
x = (centres[kind] + 0.5 * rng.normal(size=(900, 4))).astype("float32")

model = keras.Sequential([
    keras.layers.Dense(16, activation="relu", input_shape=(4,)),
    keras.layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, kind, epochs=4, verbose=2)
