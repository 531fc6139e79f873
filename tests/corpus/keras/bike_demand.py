#!/usr/bin/env python
# coding: utf-8
# Hourly bike rental demand at one station cluster -- exported from notebook `03_mlp.ipynb`

# In[1]:
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(2024)
rng = np.random.default_rng(2024)

# In[2]: two years of hourly records
n_days = 420
hours = np.arange(n_days * 24)
hod = hours % 24
dow = (hours // 24) % 7
doy = (hours // 24) % 365
temp = 12 + 10 * np.sin(2 * np.pi * (doy - 100) / 365) + 4 * np.sin(2 * np.pi * (hod - 9) / 24)
temp = temp + np.repeat(rng.normal(0, 3, n_days), 24)
rain = (rng.random(len(hours)) < 0.12) * rng.exponential(2.0, len(hours))
weekend = dow >= 5
commute = np.exp(-0.5 * ((hod - 8) / 1.2) ** 2) + 1.2 * np.exp(-0.5 * ((hod - 17.5) / 1.6) ** 2)
leisure = np.exp(-0.5 * ((hod - 14) / 3.5) ** 2)
base = np.where(weekend, 260 * leisure, 420 * commute + 60 * leisure)
demand = (40 + base) * (0.4 + 0.04 * np.clip(temp, -5, 28)) * np.exp(-0.25 * rain)
demand = np.round(np.clip(demand + rng.normal(0, 18, len(hours)), 0, None))

# In[3]: features
X = np.column_stack([
    np.sin(2 * np.pi * hod / 24), np.cos(2 * np.pi * hod / 24),
    np.sin(4 * np.pi * hod / 24), np.cos(4 * np.pi * hod / 24),
    np.sin(2 * np.pi * doy / 365), np.cos(2 * np.pi * doy / 365),
    weekend.astype(float), temp, rain,
])
cut = 340 * 24
X_train, X_test = X[:cut], X[cut:]
y_train, y_test = demand[:cut], demand[cut:]
print("train", X_train.shape, "test", X_test.shape, "mean demand", y_train.mean().round(1))

# In[4]: scale both sides
x_scaler = StandardScaler().fit(X_train)
y_scaler = StandardScaler().fit(y_train.reshape(-1, 1))
Xs_train = x_scaler.transform(X_train)
Xs_test = x_scaler.transform(X_test)
ys_train = y_scaler.transform(y_train.reshape(-1, 1))

# In[5]:
model = keras.Sequential([
    keras.Input((Xs_train.shape[1],)),
    layers.Dense(64, activation="relu"),
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.05),
    layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="huber", metrics=["mae"])
plateau = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2, min_lr=1e-4)
hist = model.fit(
    Xs_train, ys_train,
    validation_split=0.1,
    epochs=12, batch_size=64,
    callbacks=[plateau],
    verbose=2,
)
print("best val (scaled) mae: %.3f" % min(hist.history["val_mae"]))

# In[6]: errors on the last 80 days, in bikes per hour
pred = model.predict(Xs_test, verbose=0).ravel()
mae = np.mean(np.abs(pred - y_test))
rmse = np.sqrt(np.mean((pred - y_test) ** 2))
r2 = 1 - np.sum((pred - y_test) ** 2) / np.sum((y_test - y_test.mean()) ** 2)

week_ago = demand[cut - 168:-168]
print(f"test MAE  {mae:8.1f} bikes/h   RMSE {rmse:8.1f}   R2 {r2:6.3f}")
print(f"last-week MAE {np.mean(np.abs(week_ago - y_test)):.1f}   "
      f"train-mean MAE {np.mean(np.abs(y_train.mean() - y_test)):.1f}")

# In[7]: a quick look at one day
for h in range(6, 22, 3):
    print(f"  {h:02d}h  actual {y_test[h]:6.0f}  forecast {pred[h]:8.1f}")
