import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import keras
from keras import layers

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)

n = 2400
df = pd.DataFrame({
    "outdoor_c": rng.normal(6, 7, n),
    "floor_m2": rng.uniform(50, 260, n),
    "insulation": rng.uniform(0.2, 1.4, n),
    "residents": rng.integers(1, 7, n),
    "setpoint_c": rng.normal(20.5, 1.2, n),
    "pressure_pa": rng.normal(101300, 900, n),
    "annual_kwh_prev": rng.normal(9000, 2500, n),
})
demand = (df.setpoint_c - df.outdoor_c).clip(lower=0) * df.floor_m2 * df.insulation / 900
cop = 2.2 + 0.09 * (df.outdoor_c + 8).clip(lower=0)
df["kw"] = demand / cop + 0.12 * df.residents + 0.00004 * df.annual_kwh_prev + rng.normal(0, 0.08, n)

train = df.sample(frac=0.8, random_state=0)
test = df.drop(train.index)
features = [c for c in df.columns if c != "kw"]

x_train = train[features].to_numpy("float32")
x_test = test[features].to_numpy("float32")
y_mean, y_std = train.kw.mean(), train.kw.std()
y_train = ((train.kw - y_mean) / y_std).to_numpy("float32")
y_test = ((test.kw - y_mean) / y_std).to_numpy("float32")

normalizer = layers.Normalization(axis=None)
normalizer.adapt(x_train)

model = keras.Sequential([
    keras.Input(shape=(len(features),)),
    normalizer,
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="relu"),
    layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mae", metrics=["mse"])

history = model.fit(x_train, y_train, validation_split=0.15, epochs=40, batch_size=32, verbose=0)
for epoch in range(0, 40, 8):
    print(f"epoch {epoch:2d}  loss {history.history['loss'][epoch]:.3f}  "
          f"val_loss {history.history['val_loss'][epoch]:.3f}")

pred = model.predict(x_test, verbose=0)[:, 0]
r2 = 1 - np.sum((y_test - pred) ** 2) / np.sum((y_test - y_test.mean()) ** 2)
print(f"test MAE {np.abs(pred - y_test).mean() * y_std:.3f} kW   R2 {r2:.3f}")
