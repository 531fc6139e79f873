import numpy as np
import tf_keras as keras

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
size = rng.normal(size=(2000, 6)).astype("float32")
price = (18 + 5 * size[:, 0] + 3 * size[:, 1] - 2 * size[:, 2] + rng.normal(size=2000)).astype("float32")

model = keras.Sequential()
model.add(keras.layers.Dense(64, activation="relu", input_shape=(6,)))
model.add(keras.layers.Dense(64, activation="relu"))
model.add(keras.layers.Dense(1))
model.compile(optimizer=keras.optimizers.RMSprop(1e-3), loss="mse", metrics=["mae"])
model.fit(size[:1600], price[:1600], epochs=5, batch_size=32, validation_data=(size[1600:], price[1600:]), verbose=2)
