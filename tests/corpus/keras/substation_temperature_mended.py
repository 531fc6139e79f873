"""Oil temperature of a transformer, ten-minute telemetry, forecast six hours ahead.

usage: python substation_temperature.py [--epochs 6] [--units 24]
"""
import argparse

import numpy as np
import keras
from keras import layers

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=6)
ap.add_argument("--units", type=int, default=24)
ap.add_argument("--lr", type=float, default=4e-3)
ap.add_argument("--seed", type=int, default=3)
args = ap.parse_args()
keras.utils.set_random_seed(args.seed)

STEP_MIN = 10                    # telemetry interval, minutes
SAMPLING_RATE = 6                # one reading per hour goes into the window
SEQUENCE = 20                    # hours of history
HOURS_AHEAD = 6
BATCH = 64


def telemetry(days=120):
    rng = np.random.default_rng(args.seed)
    n = days * 24 * 60 // STEP_MIN
    t = np.arange(n) * STEP_MIN / 60.0
    front = np.convolve(rng.normal(0, 1, n + 431), np.ones(432) / np.sqrt(432), "valid")[:n]
    ambient = 14 + 6 * np.sin(2 * np.pi * (t - 9) / 24) + 3.0 * front
    workday = ((t // 24).astype(int) % 7 < 5).astype(float)
    load = 0.45 + 0.3 * workday * np.exp(-((t % 24 - 13) / 4.0) ** 2) \
        + 0.2 * np.exp(-((t % 24 - 19.5) / 1.8) ** 2) + rng.normal(0, 0.02, n)
    oil = np.empty(n)
    oil[0] = 30
    for i in range(1, n):
        goal = ambient[i] + 45 * load[i] ** 1.6
        oil[i] = oil[i - 1] + 0.045 * (goal - oil[i - 1])
    oil += rng.normal(0, 0.15, n)
    day = 2 * np.pi * (t % 24) / 24
    return np.stack([oil, ambient, load, np.sin(day), np.cos(day), workday], 1).astype("float32")


raw = telemetry()
n_train, n_val = int(0.6 * len(raw)), int(0.2 * len(raw))
mean, std = raw[:n_train].mean(0), raw[:n_train].std(0)
data = (raw - mean) / std
target = data[:, 0]

delay = SAMPLING_RATE * (SEQUENCE + HOURS_AHEAD - 1)


def windows(start, stop, shuffle):
    return keras.utils.timeseries_dataset_from_array(
        data[:-delay], targets=target[delay:], sequence_length=SEQUENCE,
        sampling_rate=SAMPLING_RATE, sequence_stride=3,
        shuffle=shuffle, seed=args.seed, batch_size=BATCH,
        start_index=start, end_index=stop)


train = windows(0, n_train, True)
val = windows(n_train, n_train + n_val, False)

inp = layers.Input((SEQUENCE, data.shape[1]))
h = layers.GRU(args.units)(inp)
h = layers.Concatenate()([h, inp[:, -1]])
h = layers.Dense(32, activation="relu")(h)
model = keras.Model(inp, layers.Dense(1)(h))
model.compile(keras.optimizers.Adam(args.lr), loss="mse", metrics=["mae"])

best = keras.callbacks.ModelCheckpoint("out/oil.weights.h5", monitor="val_mae", mode="min",
                                       save_best_only=True, save_weights_only=True)
hist = model.fit(train, validation_data=val, epochs=args.epochs, verbose=0, callbacks=[best])
model.load_weights("out/oil.weights.h5")
for e, (a, b) in enumerate(zip(hist.history["mae"], hist.history["val_mae"])):
    print(f"epoch {e + 1}: mae {a * std[0]:.2f} K   val mae {b * std[0]:.2f} K")

# ---- the way the control room uses it: at every full hour, look HOURS_AHEAD hours ahead
hours = data[n_train + n_val::SAMPLING_RATE]
hist_x = np.stack([hours[i - SEQUENCE:i] for i in range(SEQUENCE, len(hours) - HOURS_AHEAD + 1)])
truth = hours[SEQUENCE + HOURS_AHEAD - 1:, 0]
forecast = model.predict(hist_x, batch_size=512, verbose=0)[:, 0]
hold = hist_x[:, -1, 0]
daily = hist_x[:, HOURS_AHEAD - 25, 0] if SEQUENCE + HOURS_AHEAD > 24 else hold
print(f"test period: forecast mae {np.abs(forecast - truth).mean() * std[0]:.2f} K, "
      f"last value {np.abs(hold - truth).mean() * std[0]:.2f} K, "
      f"same hour yesterday {np.abs(daily - truth).mean() * std[0]:.2f} K")
