# %% [markdown]
# # River stage, 6 hours ahead
# GRU on rainfall + stage history of one gauge.

# %%
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

# %% synthetic catchment: rain storms, two linear reservoirs, tide
HOURS = 6000
rain = np.zeros(HOURS)
t = 0
while t < HOURS:
    dur = rng.integers(3, 15)
    rain[t:t + dur] += rng.gamma(2.0, 1.5) * np.hanning(dur + 2)[1:-1][: max(0, HOURS - t)]
    t += dur + rng.integers(15, 90)
fast, slow = np.zeros(HOURS), np.zeros(HOURS)
for i in range(1, HOURS):
    delayed = rain[i - 8] if i >= 8 else 0.0
    fast[i] = 0.90 * fast[i - 1] + 0.30 * delayed
    slow[i] = 0.99 * slow[i - 1] + 0.02 * delayed * (1 + slow[i - 1])
tide = 0.25 * np.sin(2 * np.pi * np.arange(HOURS) / 12.42)
stage = 1.0 + fast + slow + tide + 0.03 * rng.normal(size=HOURS)

# %% windows
LOOKBACK, LEAD = 36, 6
feats = np.stack([rain, stage], 1)
n_train, n_val = int(HOURS * 0.6), int(HOURS * 0.2)
mu, sd = feats[:n_train].mean(0), feats[:n_train].std(0)
z = ((feats - mu) / sd).astype("float32")


def windows(lo, hi):
    idx = np.arange(lo + LOOKBACK, hi - LEAD)
    x = np.stack([z[i - LOOKBACK:i] for i in idx])
    y = z[idx + LEAD - 1, 1]
    return x, y


x_tr, y_tr = windows(0, n_train)
x_va, y_va = windows(n_train, n_train + n_val)
x_te, y_te = windows(n_train + n_val, HOURS)
print(x_tr.shape, x_va.shape, x_te.shape)

# %% model
model = keras.Sequential([
    keras.Input((LOOKBACK, 2)),
    layers.Conv1D(16, 3, padding="causal", activation="relu"),
    layers.GRU(24),
    layers.Dense(16, activation="relu"),
    layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(3e-4), loss="mse", metrics=["mae"])

stopper = keras.callbacks.EarlyStopping(
    monitor="val_loss",
    mode="max",
    patience=4,
    restore_best_weights=True,
)
history = model.fit(
    x_tr, y_tr,
    validation_data=(x_va, y_va),
    epochs=14,
    batch_size=64,
    callbacks=[stopper],
    verbose=0,
)
for i, (a, b) in enumerate(zip(history.history["loss"], history.history["val_loss"])):
    print(f"epoch {i + 1:2d}: loss {a:.4f} val_loss {b:.4f}")

# %% evaluation in metres
pred = model.predict(x_te, verbose=0)[:, 0] * sd[1] + mu[1]
true = y_te * sd[1] + mu[1]
persist = x_te[:, -1, 1] * sd[1] + mu[1]


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


print("epochs run:", len(history.history["loss"]))
print(f"test RMSE {rmse(pred, true):.3f} m, persistence {rmse(persist, true):.3f} m")
