"""Forecast the level of a river gauge 12 hours ahead from hourly level and rain."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers
from keras.utils import timeseries_dataset_from_array

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

HOURS = 6000
WINDOW = 48
HORIZON = 12

# ---- synthetic gauge: rain reaches the gauge with a delay of about 14 h and drains slowly
wet = (rng.random(HOURS) < 0.04).astype("float32")
rain = np.convolve(wet * rng.gamma(2.0, 2.0, HOURS), np.ones(5) / 5)[:HOURS]
level = np.zeros(HOURS)
level[:20] = 1.0
for t in range(20, HOURS):
    level[t] = level[t - 1] + 0.05 * (1.0 - level[t - 1]) + 0.12 * rain[t - 14]
level = level + rng.normal(0, 0.03, HOURS)
hour = np.arange(HOURS) % 24
data = np.stack([level, rain, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)], 1)

n_train, n_val = int(HOURS * 0.7), int(HOURS * 0.85)
mu, sd = data[:n_train].mean(0), data[:n_train].std(0)
data = ((data - mu) / sd).astype("float32")


def windows(part, shuffle):
    targets = part[WINDOW + HORIZON - 1:, 0]
    return timeseries_dataset_from_array(
        part, targets, sequence_length=WINDOW, batch_size=64, shuffle=shuffle, seed=1
    )


train = windows(data[:n_train], True)
val = windows(data[n_train:n_val], False)

inp = keras.Input((WINDOW, data.shape[1]))
h = layers.Conv1D(32, 6, padding="causal", activation="relu")(inp)
h = layers.Conv1D(32, 6, padding="causal", dilation_rate=3, activation="relu")(h)
h = layers.Flatten()(h)
h = layers.Dense(32, activation="relu")(h)
out = layers.Dense(1)(h)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
model.fit(
    train,
    validation_data=val,
    epochs=12,
    verbose=2,
    callbacks=[keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.3)],
)
print("validation MAE (m): %.3f" % (model.evaluate(val, verbose=0)[1] * sd[0]))

# ---- replay the last weeks as the service would see them
live = data[n_val:]
starts = np.arange(0, len(live) - WINDOW - HORIZON)
seen = np.stack([live[s:s + WINDOW] for s in starts])
came = live[starts + WINDOW + HORIZON - 1, 0]
guess = model.predict(seen, verbose=0)[:, 0]
print("replay MAE (m): %.3f" % (np.abs(guess - came).mean() * sd[0]))
print("persistence MAE (m): %.3f" % (np.abs(seen[:, -1, 0] - came).mean() * sd[0]))
