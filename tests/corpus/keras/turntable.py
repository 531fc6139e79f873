import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(17)
STEPS = 96


def record(n, rng):
    speed = rng.uniform(0.15, 0.45, n)
    phase = rng.uniform(0, 2 * np.pi, n)
    direction = rng.integers(0, 2, n)
    t = np.arange(STEPS)
    angle = phase[:, None] + np.where(direction, 1, -1)[:, None] * speed[:, None] * t
    ax = np.cos(angle) + rng.normal(0, 0.15, (n, STEPS))
    ay = np.sin(angle) + rng.normal(0, 0.15, (n, STEPS))
    az = 0.3 * rng.normal(0, 1, (n, STEPS))
    return np.stack([ax, ay, az], axis=1).astype("float32"), direction


rng = np.random.default_rng(17)
signals, direction = record(1600, rng)
print("recorded", signals.shape)

x = signals.reshape(-1, STEPS, 3)
x_train, x_val, x_test = np.split(x, [1200, 1400])
y_train, y_val, y_test = np.split(direction, [1200, 1400])

inputs = keras.Input((STEPS, 3))
h = layers.Conv1D(24, 5, activation="relu")(inputs)
h = layers.Conv1D(24, 5, strides=2, activation="relu")(h)
h = layers.GlobalAveragePooling1D()(h)
h = layers.Dense(24, activation="relu")(h)
outputs = layers.Dense(2, activation="softmax")(h)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(2e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])

model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=10, batch_size=32, verbose=2)
print("test", model.evaluate(x_test, y_test, verbose=0))
