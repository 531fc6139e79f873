import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(11)

EPOCHS = 40
BATCH_SIZE = 64
BASE_LR = 3e-3


def simulate_buildings(n, rng):
    """Heating demand in kWh/m2 from area, glazing, U-value, outside temperature, ..."""
    area = rng.uniform(50, 400, n)
    glazing = rng.uniform(0.05, 0.5, n)
    u_value = rng.uniform(0.15, 2.0, n)
    outside = rng.normal(8, 6, n)
    people = rng.integers(1, 12, n)
    south = rng.uniform(0, 1, n)
    delta = np.maximum(20 - outside, 0)
    demand = (u_value * delta * (1 + 1.5 * glazing) * 4
              - 35 * glazing * south - 1.5 * people + 0.02 * area)
    demand += rng.normal(0, 3, n)
    feats = np.stack([area, glazing, u_value, outside, people, south], axis=1)
    return feats.astype("float32"), demand.astype("float32")


rng = np.random.default_rng(3)
X, y = simulate_buildings(4000, rng)
X_train, X_val, X_test = X[:3000], X[3000:3500], X[3500:]
y_train, y_val, y_test = y[:3000], y[3000:3500], y[3500:]

mean, std = X_train.mean(0), X_train.std(0)
X_train, X_val, X_test = [(a - mean) / std for a in (X_train, X_val, X_test)]
y_mean, y_std = y_train.mean(), y_train.std()

model = keras.Sequential([
    layers.Input((6,)),
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="relu"),
    layers.Dense(1),
])

schedule = keras.optimizers.schedules.CosineDecay(BASE_LR, decay_steps=EPOCHS * (len(X_train) // BATCH_SIZE))
model.compile(optimizer=keras.optimizers.Adam(schedule), loss="mse", metrics=["mae"])

history = model.fit(
    X_train, (y_train - y_mean) / y_std,
    validation_data=(X_val, (y_val - y_mean) / y_std),
    epochs=EPOCHS, batch_size=BATCH_SIZE, verbose=2)

pred = model.predict(X_test, verbose=0).ravel() * y_std + y_mean
rmse = np.sqrt(np.mean((pred - y_test) ** 2))
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print(f"val loss first/last: {history.history['val_loss'][0]:.4f} / {history.history['val_loss'][-1]:.4f}")
print(f"test RMSE {rmse:.2f} kWh/m2   R2 {r2:.3f}")
