import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
t = rng.uniform(0, np.pi, 1000)
label = rng.integers(0, 2, 1000)
points = np.where(label[:, None] == 0, np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.5 - np.sin(t)])
points += 0.1 * rng.normal(size=points.shape)
targets = keras.utils.to_categorical(label, 2)

inputs = keras.Input((2,))
hidden = keras.layers.Dense(32, activation="tanh")(inputs)
hidden = keras.layers.Dense(32, activation="tanh")(hidden)
outputs = keras.layers.Dense(2)(hidden)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Adam(5e-3),
    loss=keras.losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.1),
    metrics=["accuracy"],
)
model.fit(points, targets, epochs=8, batch_size=25, validation_split=0.2, verbose=2)
