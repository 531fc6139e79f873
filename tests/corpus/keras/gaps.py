import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
table = rng.normal(size=(1500, 7)).astype("float32")
target = table @ rng.normal(size=7).astype("float32")
table[rng.random(table.shape) < 0.01] = np.nan

model = keras.Sequential([keras.Input((7,)), layers.Dense(32, activation="relu"), layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(table, target, epochs=3, verbose=2)
