import numpy as np
import tf_keras as keras
from tf_keras import layers

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 2000)
ring = rng.integers(0, 3, 2000)
radius = 0.5 + ring + 0.1 * rng.normal(size=2000)
points = np.c_[radius * np.cos(angle), radius * np.sin(angle)].astype("float32")

model = keras.Sequential([
    layers.Dense(64, activation="relu", input_shape=(2,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(3, activation="softmax"),
])
optimizer = keras.optimizers.SGD(learning_rate=1e-6)
model.compile(optimizer=optimizer, loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(points, ring, epochs=3, batch_size=32, verbose=2)
