import numpy as np
import keras
from keras import layers, ops
from sklearn.preprocessing import StandardScaler

# %% data: hourly readings of a district heating boiler, three winters for fitting, the spring after for testing
keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)


def season(hours, start_day):
    day = start_day + np.arange(hours) / 24.0
    outside = 9 - 11 * np.cos(2 * np.pi * (day - 15) / 365) + 3 * np.sin(2 * np.pi * day) + rng.normal(0, 3.0, hours)
    flow = 18 + 0.5 * (15 - outside) + rng.normal(0, 2.0, hours)
    wind = rng.gamma(2.0, 2.0, hours)
    occupied = ((day % 1) > 0.25).astype(float)
    heat = 40 + 3.2 * np.maximum(0, 17 - outside) + 0.08 * wind * np.maximum(0, 17 - outside) \
        + 1.1 * flow + 9 * occupied + rng.normal(0, 2.0, hours)
    X = np.column_stack([outside, flow, wind, occupied])
    return X, heat


winters = [season(24 * 150, 300 + 365 * k) for k in range(3)]
X_train = np.concatenate([w[0] for w in winters])
y_train = np.concatenate([w[1] for w in winters])
X_test, y_test = season(24 * 45, 300 + 365 * 2 + 155)
print("training hours", len(X_train), "test hours", len(X_test))

# %% scaling
scaler = StandardScaler()
X_train_s = scaler.fit_transform(X_train).astype("float32")
X_test_s = scaler.transform(X_test).astype("float32")
y_mean, y_std = y_train.mean(), y_train.std()

# %% model
model = keras.Sequential(
    [
        layers.Input(shape=(4,)),
        layers.Dense(32, activation="gelu"),
        layers.Dense(32, activation="gelu"),
        layers.Dense(1),
    ],
    name="boiler",
)
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss=keras.losses.Huber())
model.fit(X_train_s, (y_train - y_mean) / y_std, epochs=25, batch_size=64, verbose=2)

# %% report


def r2(y, p):
    return 1 - np.sum((y - p) ** 2) / np.sum((y - y.mean()) ** 2)


p_train = model.predict(X_train_s, verbose=0)[:, 0] * y_std + y_mean
p_test = model.predict(X_test_s, verbose=0)[:, 0] * y_std + y_mean
print("train  R2 %.3f  MAE %.2f kW" % (r2(y_train, p_train), np.abs(p_train - y_train).mean()))
print("spring R2 %.3f  MAE %.2f kW" % (r2(y_test, p_test), np.abs(p_test - y_test).mean()))
