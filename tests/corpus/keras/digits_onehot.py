import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
patterns = rng.integers(0, 2, size=(10, 8, 8))
label = rng.integers(0, 10, size=(1500, 1))
x = (patterns[label[:, 0]] + 0.4 * rng.normal(size=(1500, 8, 8)))[..., None].astype("float32")

model = keras.Sequential([
    keras.Input((8, 8, 1)),
    layers.Conv2D(16, 3, activation="relu"),
    layers.Flatten(),
    layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="categorical_crossentropy", metrics=["accuracy"])
model.fit(x, label, epochs=2, batch_size=32, verbose=2)
