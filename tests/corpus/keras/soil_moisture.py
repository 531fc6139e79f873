import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras
from keras import layers

# %% data: eight field readings, nonlinear moisture response
keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)
N = 4800
rain = rng.gamma(2.0, 1.0, N)
temp = rng.normal(0, 1, N)
clay = rng.uniform(0, 1, N)
slope = rng.exponential(1.0, N)
sun, wind, ph, depth = rng.normal(0, 1, (4, N))
moisture = (
    2.0 * np.tanh(rain - slope)
    - 0.8 * temp * (1 - clay)
    + 1.5 * clay * np.sin(2 * depth)
    - 0.4 * np.maximum(sun + wind, 0)
    + rng.normal(0, 0.15, N)
)
X = np.stack([rain, temp, clay, slope, sun, wind, ph, depth], 1).astype("float32")
y = moisture.astype("float32")

n_train = 3840
mu, sd = X[:n_train].mean(0), X[:n_train].std(0)
X = (X - mu) / sd
ym, ys = y[:n_train].mean(), y[:n_train].std()
y = (y - ym) / ys
Xtr, Xva, ytr, yva = X[:n_train], X[n_train:], y[:n_train], y[n_train:]

# %% model
BATCH = 32
EPOCHS = 30
HALVE_EVERY = 8          # epochs
steps_per_epoch = n_train // BATCH

inp = keras.Input((8,))
h = layers.Dense(96, activation="gelu")(inp)
h = layers.Dense(96, activation="gelu")(h)
out = layers.Dense(1)(h)
model = keras.Model(inp, out)

schedule = keras.optimizers.schedules.ExponentialDecay(
    initial_learning_rate=2e-3,
    decay_steps=HALVE_EVERY,
    decay_rate=0.5,
)
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])

# %% train
print(f"{steps_per_epoch} steps per epoch, {model.count_params()} parameters")
hist = model.fit(Xtr, ytr, validation_data=(Xva, yva), batch_size=BATCH, epochs=EPOCHS, verbose=2)

pred = model.predict(Xva, verbose=0)[:, 0]
r2 = 1 - np.mean((pred - yva) ** 2) / np.var(yva)
print(f"validation R2 {r2:.3f}  rmse {np.sqrt(np.mean((pred - yva) ** 2)) * ys:.3f}")
