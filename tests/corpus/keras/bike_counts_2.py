import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)

# %% hourly counts at one bridge
HOURS = 24 * 160
t = np.arange(HOURS)
drift = np.zeros(HOURS)
for i in range(1, HOURS):
    drift[i] = 0.9 * drift[i - 1] + rng.normal(0, 6)
daily = 40 * np.sin(2 * np.pi * t / 24 - 1.5) + 18 * np.sin(4 * np.pi * t / 24)
weekend = np.where((t // 24) % 7 >= 5, -20, 0)
counts = 120 + daily + weekend + drift + rng.normal(0, 3, HOURS)

# %% features
LAGS = 24
SPAN = 5


def smooth(series):
    return np.convolve(series, np.ones(SPAN) / SPAN, mode="full")[SPAN // 2:SPAN // 2 + len(series)]


level = smooth(counts)
spread = np.sqrt(np.maximum(smooth(counts ** 2) - level ** 2, 0))


def table():
    rows, target = [], []
    for i in range(LAGS + SPAN, HOURS - SPAN):
        lags = counts[i - LAGS:i]
        clock = [np.sin(2 * np.pi * i / 24), np.cos(2 * np.pi * i / 24), float((i // 24) % 7 >= 5)]
        rows.append(np.r_[lags, level[i - 1], level[i - 2], spread[i - 1], clock])
        target.append(counts[i])
    return np.array(rows, "float32"), np.array(target, "float32")


X, y = table()
cut = int(0.8 * len(X))
mean, std = X[:cut].mean(0), X[:cut].std(0) + 1e-6
X = (X - mean) / std
ymean, ystd = y[:cut].mean(), y[:cut].std()
z = (y - ymean) / ystd

# %% model
model = keras.Sequential([
    layers.Input((X.shape[1],)),
    layers.Dense(64, activation="relu"),
    layers.Dense(32, activation="relu"),
    layers.Dense(1),
])
schedule = keras.optimizers.schedules.CosineDecay(3e-3, 30 * (cut // 64))
model.compile(keras.optimizers.Adam(schedule), "mse")
model.fit(X[:cut], z[:cut], epochs=30, batch_size=64, validation_data=(X[cut:], z[cut:]), verbose=2)

# %% report
forecast = model.predict(X[cut:], verbose=0)[:, 0] * ystd + ymean
mae = np.abs(forecast - y[cut:]).mean()
naive = np.abs(y[cut:] - y[cut - 1:-1]).mean()
print(f"one hour ahead: MAE {mae:.2f} bikes, last-value MAE {naive:.2f}")
