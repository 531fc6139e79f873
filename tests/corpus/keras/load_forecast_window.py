# Next-hour electricity load from the last two days
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)

# --- hourly load of a small town, 150 days ---
rng = np.random.default_rng(0)
hours = np.arange(24 * 150)
noise = np.zeros(len(hours))
for t in range(1, len(hours)):
    noise[t] = 0.6 * noise[t - 1] + rng.normal(0, 3.0)
load = (
    120
    + 25 * np.sin(2 * np.pi * hours / 24)
    + 10 * np.sin(2 * np.pi * hours / 12 + 1.0)
    + 8 * np.sin(2 * np.pi * hours / (24 * 7))
    + noise
).astype("float32")

WINDOW = 48
n_train = 24 * 120
mean, std = load[:n_train].mean(), load[:n_train].std()
scaled = (load - mean) / std


def windows(series):
    xs, ys = [], []
    for end in range(WINDOW, len(series)):
        xs.append(series[end - WINDOW : end])
        ys.append(series[end - 1])
    return np.array(xs)[..., None], np.array(ys)


x_train, y_train = windows(scaled[:n_train])
x_test, y_test = windows(scaled[n_train:])

model = keras.Sequential(
    [
        keras.layers.Input((WINDOW, 1)),
        keras.layers.Flatten(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1),
    ]
)
model.compile(keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(3e-3, 22 * 80)), loss="mse")
model.fit(x_train, y_train, batch_size=32, epochs=22, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)[:, 0]
mae = np.abs(pred - y_test).mean() * std
print(f"one-hour-ahead MAE on the last 30 days: {mae:.2f} MW")
print("naive forecast (load does not change):  %.2f MW" % np.abs(np.diff(load[n_train:])).mean())
