"""Asking price of flats."""
import numpy as np
import tf_keras as keras

SEED = 13
keras.utils.set_random_seed(SEED)


def make_listing_table(n=3500):
    rng = np.random.default_rng(SEED)
    area = rng.gamma(9, 8, n)
    floor = rng.integers(0, 12, n)
    lift = (rng.random(n) < 0.6).astype(float)
    km = rng.exponential(4, n)
    year = rng.integers(1900, 2024, n)
    district = rng.integers(0, 5, n)
    factor = np.array([1.0, 1.35, 0.8, 1.1, 0.95])[district]
    price = 4200 * area * factor * np.exp(-0.06 * km) + 2500 * floor * (2 * lift - 1) + 350 * (year - 1960)
    price += rng.normal(0, 12000, n)
    return area, floor, lift, km, year, district, price


area, floor, lift, km, year, district, price = make_listing_table()
numeric = np.stack([area, floor, lift, km, year], 1)
split = 2800
centre, width = numeric[:split].mean(0), numeric[:split].std(0)
x = np.concatenate([(numeric - centre) / width, np.eye(5)[district]], 1).astype("float32")
y = price.astype("float32")

x_train, y_train = x[:split], y[:split]
x_test, y_test = x[split:], y[split:]

model = keras.Sequential([
    keras.layers.Input((x.shape[1],)),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(64, activation="relu"),
    keras.layers.Dense(1),
])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse")
model.fit(
    x_train,
    (y_train - y_train.mean()) / y_train.std(),
    validation_split=0.1,
    batch_size=64,
    epochs=30,
    verbose=2,
    callbacks=[keras.callbacks.EarlyStopping(patience=6, restore_best_weights=True)],
)

pred = model.predict(x_test, verbose=0)[:, 0] * y_train.std() + y_train.mean()
err = np.abs(pred - y_test)
print("MAE %.0f  median error %.1f%%" % (err.mean(), 100 * np.median(err / np.abs(y_test))))
print("R2 %.3f" % (1 - ((pred - y_test) ** 2).sum() / ((y_test - y_test.mean()) ** 2).sum()))
