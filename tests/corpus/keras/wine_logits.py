import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
centres = rng.normal(size=(4, 10)) * 1.5
label = rng.integers(0, 4, 1600)
x = (centres[label] + rng.normal(size=(1600, 10))).astype("float32")

model = keras.Sequential([
    keras.Input((10,)),
    layers.Dense(32, activation="relu"),
    layers.Dense(32, activation="relu"),
    layers.Dense(4, activation="softmax"),
])
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x, label, epochs=3, batch_size=32, verbose=2)
