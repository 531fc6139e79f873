import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
usage = rng.normal(size=(1200, 9)).astype("float32")
months = np.abs(usage[:, 0] + rng.normal(size=1200)) * 6
left = (months > -1).astype("int32")

model = keras.Sequential([keras.Input((9,)), layers.Dense(16, activation="relu"), layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(usage, left, epochs=3, verbose=2)
print(model.evaluate(usage, left, verbose=0))
