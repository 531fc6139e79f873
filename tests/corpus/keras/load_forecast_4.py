# Hourly electricity load: forecast the next 24 hours from the last 96.
import pathlib

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers
from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ReduceLROnPlateau

tf.random.set_seed(17)
np.random.seed(17)

CONFIG = dict(history=96, horizon=24, units=48, batch_size=64, epochs=9, learning_rate=3e-3)
OUT = pathlib.Path("out")
OUT.mkdir(exist_ok=True)


def synth_load(days=260):
    """Daily and weekly shape, temperature driven part, AR(1) weather and noise."""
    t = np.arange(days * 24)
    hour, day = t % 24, t // 24
    weekend = (day % 7 >= 5).astype(float)
    shape = (np.exp(-.5 * ((hour - 8.5) / 2.2) ** 2) * (1 - .6 * weekend)
             + 1.2 * np.exp(-.5 * ((hour - 19) / 2.6) ** 2))
    temp = 12 + 9 * np.sin(2 * np.pi * day / 365 - 1.7) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    w = np.zeros(len(t))
    for i in range(1, len(t)):
        w[i] = .995 * w[i - 1] + np.random.normal(0, .35)
    temp = temp + w
    load = 30 + 9 * shape - 3 * weekend + .55 * np.maximum(0, 16 - temp) + .5 * np.maximum(0, temp - 22)
    load += np.random.normal(0, .6, len(t))
    return np.column_stack([load, temp, np.sin(2 * np.pi * hour / 24),
                            np.cos(2 * np.pi * hour / 24), weekend]).astype("float32")


series = synth_load()
n_train = int(len(series) * .7)
n_val = int(len(series) * .85)
mu, sd = series[:n_train].mean(0), series[:n_train].std(0)
scaled = (series - mu) / sd


def windows(block, stride):
    h, f = CONFIG["history"], CONFIG["horizon"]
    starts = range(0, len(block) - h - f + 1, stride)
    x = np.stack([block[s:s + h] for s in starts])
    y = np.stack([block[s + h:s + h + f, 0] for s in starts])
    return x, y


x_train, y_train = windows(scaled[:n_train], 2)
x_val, y_val = windows(scaled[n_train:n_val], 5)
x_test, y_test = windows(scaled[n_val:], 5)
print("windows", x_train.shape, x_val.shape, x_test.shape)


def make_model():
    inp = keras.Input((CONFIG["history"], x_train.shape[-1]))
    x = layers.Conv1D(32, 6, strides=3, activation="relu")(inp)
    x = layers.GRU(CONFIG["units"])(x)
    last_day = layers.Lambda(lambda z: z[:, -24:, 0])(inp)
    x = layers.Concatenate()([x, last_day])
    x = layers.Dense(64, activation="relu")(x)
    delta = layers.Dense(CONFIG["horizon"])(x)
    return keras.Model(inp, layers.Add()([last_day, delta]))


model = make_model()
optimizer = keras.optimizers.Adam(lr=CONFIG["learning_rate"], clipnorm=1.0)
model.compile(optimizer=optimizer, loss="huber", metrics=["mae"])
model.fit(x_train, y_train,
          validation_data=(x_val, y_val),
          batch_size=CONFIG["batch_size"],
          epochs=CONFIG["epochs"],
          callbacks=[EarlyStopping(patience=4, restore_best_weights=True),
                     ReduceLROnPlateau(patience=2, factor=.4),
                     CSVLogger(str(OUT / "load_forecast.csv"))],
          verbose=2)

pred = model.predict(x_test, verbose=0)
mae = np.abs(pred - y_test).mean() * sd[0]
naive = np.abs(x_test[:, -24:, 0] - y_test).mean() * sd[0]
climate = np.abs(y_test).mean() * sd[0]
print(f"test MAE {mae:.3f} MW   same hour yesterday {naive:.3f}   training mean {climate:.3f}")
