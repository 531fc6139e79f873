import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(7)

# hourly water level in a harbour: two tides, a slow swell and measuring noise
hours = np.arange(6000)
rng = np.random.default_rng(7)
level = (1.6 * np.sin(2 * np.pi * hours / 12.42)
         + 0.5 * np.sin(2 * np.pi * hours / 25.82 + 0.8)
         + 0.4 * np.sin(2 * np.pi * hours / 340)
         + 0.1 * rng.normal(size=hours.size)).astype("float32")

split = 4800
mean, std = level[:split].mean(), level[:split].std()
level = (level - mean) / std

WINDOW, AHEAD = 48, 6


def windows(series):
    n = len(series) - WINDOW - AHEAD + 1
    x = np.stack([series[i:i + WINDOW] for i in range(n)])
    y = series[WINDOW + AHEAD - 1:]
    return x[..., None], y[:, None]


x_train, y_train = windows(level[:split])
x_test, y_test = windows(level[split:])
print("train", x_train.shape, y_train.shape, "test", x_test.shape)

inputs = keras.Input((WINDOW, 1))
x = layers.LayerNormalization(epsilon=1e-6)(inputs)
x = layers.Conv1D(32, 5, padding="causal", activation="relu")(x)
x = layers.Conv1D(32, 5, padding="causal", dilation_rate=2, activation="relu")(x)
x = layers.Flatten()(x)
x = layers.Dense(32, activation="relu")(x)
outputs = layers.Dense(1)(x)
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
model.fit(x_train, y_train, validation_split=0.1, epochs=8, batch_size=64, verbose=2)

mse, mae = model.evaluate(x_test, y_test, verbose=0)
naive = np.abs(y_test[:, 0] - x_test[:, -1, 0]).mean()
print(f"test mae {mae * std:.3f} m   (last value repeated: {naive * std:.3f} m)")
