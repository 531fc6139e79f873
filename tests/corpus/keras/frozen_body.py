import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(2)
signal = rng.normal(size=(3000, 20)).astype("float32")
mixing = rng.normal(size=(20, 20)).astype("float32")
first = (signal @ mixing[:, 0] > 0).astype("int32")
second = (signal @ mixing[:, 0] + 0.5 * signal @ mixing[:, 1] > 0).astype("int32")

body = keras.Sequential([keras.Input((20,)), layers.Dense(64, activation="relu"), layers.Dense(32, activation="relu")], name="body")
pretraining = keras.Sequential([body, layers.Dense(1, activation="sigmoid")])
pretraining.compile(optimizer=keras.optimizers.Adam(1e-2), loss="binary_crossentropy")
pretraining.fit(signal[:2000], first[:2000], epochs=1, verbose=0)

body.trainable = False
model = keras.Sequential([body, layers.Dense(2)])
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(signal[2000:], second[2000:], epochs=6, batch_size=20, verbose=2)
