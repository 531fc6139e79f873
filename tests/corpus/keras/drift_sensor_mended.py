import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers
from sklearn.metrics import mean_absolute_error, r2_score

keras.utils.set_random_seed(21)
LOOKBACK, HORIZON = 36, 4


def nitrate_series(n=5200, seed=4):
    """grams per litre, one reading every ten minutes, with rain and pump state"""
    rng = np.random.default_rng(seed)
    rain = np.zeros(n)
    for start in rng.choice(n, 90, replace=False):
        rain[start:start + rng.integers(6, 40)] += rng.gamma(2, 0.6)
    pump = (np.sin(np.arange(n) * 2 * np.pi / 144) > 0.2).astype(float)
    level = np.zeros(n)
    for t in range(1, n):
        inflow = 0.09 * rain[max(0, t - 8)] - 0.05 * pump[t - 1]
        level[t] = 0.96 * level[t - 1] + inflow + rng.normal(0, 0.02)
    nitrate = 0.06 + 0.032 * np.tanh(level) + rng.normal(0, 0.0005, n)
    return nitrate, rain, pump


def windows(nitrate, rain, pump):
    feats = np.stack([nitrate, rain, pump], 1)
    mean, std = feats[:4000].mean(0), feats[:4000].std(0)
    feats = (feats - mean) / std
    X, y = [], []
    for t in range(LOOKBACK, len(nitrate) - HORIZON):
        X.append(feats[t - LOOKBACK:t])
        y.append(nitrate[t + HORIZON - 1])
    return np.array(X, "float32"), np.array(y, "float32")[:, None]


class RateLog(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        self.rates = []

    def on_epoch_end(self, epoch, logs=None):
        self.rates.append(float(self.model.optimizer.learning_rate))


def forecaster():
    inp = keras.Input((LOOKBACK, 3))
    h = layers.Conv1D(24, 5, padding="causal", activation="relu")(inp)
    h = layers.Conv1D(24, 5, padding="causal", dilation_rate=3, activation="relu")(h)
    h = layers.Concatenate()([layers.GlobalAveragePooling1D()(h), layers.Flatten()(h[:, -6:])])
    h = layers.Dense(32, activation="relu")(h)
    return keras.Model(inp, layers.Dense(1)(h))


X, y = windows(*nitrate_series())
n_train, n_val = 3800, 500
X_tr, y_tr = X[:n_train], y[:n_train]
X_va, y_va = X[n_train:n_train + n_val], y[n_train:n_train + n_val]
X_te, y_te = X[n_train + n_val:], y[n_train + n_val:]

model = forecaster()
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
rate_log = RateLog()
callbacks = [
    keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.2, patience=1, min_delta=1e-8),
    rate_log,
]
model.fit(X_tr, y_tr, validation_data=(X_va, y_va), epochs=20, batch_size=64,
          callbacks=callbacks, verbose=2)

pred = model.predict(X_te, verbose=0)
print("learning rates", ["%.0e" % r for r in rate_log.rates])
print(f"std of test target  {y_te.std():.5f}")
print(f"MAE train mean      {np.abs(y_te - y_tr.mean()).mean():.5f}")
print(f"MAE test            {mean_absolute_error(y_te, pred):.5f}")
print(f"R2 test             {r2_score(y_te, pred):.3f}")
