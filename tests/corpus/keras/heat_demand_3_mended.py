"""District heating demand from weather: two years to learn, the following winter to forecast."""
import numpy as np
import keras
from keras import layers
from sklearn.metrics import mean_absolute_error
from sklearn.preprocessing import StandardScaler

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

HOURS_PER_DAY = 8          # three-hourly readings
DAYS = 2 * 365 + 75


def build_table():
    n = DAYS * HOURS_PER_DAY
    day = np.arange(n) / HOURS_PER_DAY
    hour = (np.arange(n) % HOURS_PER_DAY) * 3.0
    season = -np.cos(2 * np.pi * (day - 15) / 365)
    temp = 9 + 11 * season + 3 * np.sin(2 * np.pi * (hour - 9) / 24)
    temp += np.repeat(rng.normal(0, 2.5, DAYS), HOURS_PER_DAY)
    wind = rng.gamma(2.0, 2.0 - 0.5 * season)
    sun = np.clip(np.sin(np.pi * (hour - 6) / 12), 0, None) * (3 + 2 * season)
    weekend = ((day.astype(int) % 7) >= 5).astype(float)
    demand = 4.0 * np.clip(17 - temp, 0, None) + 1.2 * wind - 2.0 * sun
    demand += 12 * np.exp(-0.5 * ((hour - 6) / 2.5) ** 2) - 5 * weekend + 25
    demand += rng.normal(0, 2.0, n)
    X = np.stack([temp, wind, sun, weekend,
                  np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24)], axis=1)
    return X.astype("float32"), demand.astype("float32")


def build_model(n_in):
    inp = keras.Input((n_in,))
    h = layers.Dense(64, activation="gelu")(inp)
    h = layers.Dense(64, activation="gelu")(h)
    out = layers.Dense(1)(h)
    model = keras.Model(inp, out)
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="huber", metrics=["mae"])
    return model


X, y = build_table()
cut = 2 * 365 * HOURS_PER_DAY
X_train, X_test = X[:cut], X[cut:]
y_train, y_test = y[:cut], y[cut:]

scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)
X_test = scaler.transform(X_test)

y_scaler = StandardScaler()
t_train = y_scaler.fit_transform(y_train[:, None])

model = build_model(X.shape[1])
plateau = keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=3, factor=0.5)
history = model.fit(
    X_train, t_train,
    epochs=15,
    batch_size=64,
    shuffle=True,
    validation_split=0.15,
    callbacks=[plateau],
    verbose=2,
)

pred = y_scaler.inverse_transform(model.predict(X_test, verbose=0))[:, 0]
mae = mean_absolute_error(y_test, pred)
naive = mean_absolute_error(y_test[HOURS_PER_DAY:], y_test[:-HOURS_PER_DAY])
flat = mean_absolute_error(y_test, np.full_like(y_test, y_train.mean()))
print(f"forecast MAE {mae:.2f} MW | same hour yesterday {naive:.2f} | yearly mean {flat:.2f}")
print(f"bias {np.mean(pred - y_test):+.2f} MW")
