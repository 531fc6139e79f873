import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)

HOURS = 24 * 7 * 16
WINDOW = 48
t = np.arange(HOURS)
daily = 9000 * np.sin(2 * np.pi * (t - 7) / 24) + 3500 * np.sin(4 * np.pi * t / 24)
weekly = np.where((t // 24) % 7 >= 5, -6000, 0)
drift = np.cumsum(rng.normal(0, 120, HOURS))
load_mw = (42000 + daily + weekly + drift + rng.normal(0, 500, HOURS)).astype("float32")

first_test = int(HOURS * 0.8)
train_series, test_series = load_mw[:first_test], load_mw[first_test - WINDOW:]


def windows(series, training):
    return keras.utils.timeseries_dataset_from_array(
        series[:-1, None], series[WINDOW:, None], sequence_length=WINDOW,
        batch_size=32, shuffle=training, seed=4 if training else None,
    )


train_ds, test_ds = windows(train_series, True), windows(test_series, False)

level = float(train_series.mean())
spread = float(train_series.std())

inputs = keras.Input((WINDOW, 1))
x = keras.layers.Normalization(axis=None, mean=level, variance=spread ** 2)(inputs)
x = keras.layers.Conv1D(32, 5, padding="causal", activation="relu")(x)
x = keras.layers.Conv1D(32, 5, padding="causal", dilation_rate=4, activation="relu")(x)
x = keras.layers.Flatten()(x)
x = keras.layers.Dropout(0.2)(x)
x = keras.layers.Dense(32, activation="relu")(x)
x = keras.layers.Dense(1)(x)
change = keras.layers.Rescaling(scale=spread)(x)
outputs = keras.layers.Add()([change, keras.layers.Flatten()(inputs[:, -1:, :])])
model = keras.Model(inputs, outputs)

model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
model.fit(train_ds, validation_data=test_ds, epochs=15, verbose=2)

mse, mae = model.evaluate(test_ds, verbose=0)
actual = np.concatenate([y.numpy().ravel() for _, y in test_ds])
last = np.concatenate([x.numpy()[:, -1, 0] for x, _ in test_ds])
day_ago = np.concatenate([x.numpy()[:, -24, 0] for x, _ in test_ds])
print(f"test mse {mse:.1f}  mae {mae:.1f} MW")
print(f"mae of last value {np.abs(actual - last).mean():.1f} MW, of the same hour yesterday {np.abs(actual - day_ago).mean():.1f} MW")
