# Next-hour heat load of a district network from the last day of readings.
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

LOOKBACK = 24


def simulate(hours):
    t = np.arange(hours)
    weather = np.zeros(hours)
    for i in range(1, hours):
        weather[i] = 0.97 * weather[i - 1] + rng.normal(0, 0.35)
    day = 4.0 * np.sin(2 * np.pi * t / 24) + 1.5 * np.sin(4 * np.pi * t / 24 + 1)
    jump = rng.normal(0, 1.0, hours)
    return (30 + day + 2.0 * weather + jump).astype("float32")


def make_windows(series, lookback):
    n = len(series) - lookback
    X = np.stack([series[i : i + lookback] for i in range(n)])
    y = np.array([series[i + lookback - 1] for i in range(n)])
    return X[..., None], y


class LoadForecaster:
    def __init__(self, lookback=LOOKBACK, units=32):
        self.lookback = lookback
        self.net = keras.Sequential([
            keras.Input((lookback, 1)),
            layers.GRU(units),
            layers.Dense(16, activation="relu"),
            layers.Dense(1),
        ])
        self.net.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])

    def fit(self, series, valid, epochs):
        self.mu, self.sd = series.mean(), series.std()
        X, y = make_windows((series - self.mu) / self.sd, self.lookback)
        Xv, yv = make_windows((valid - self.mu) / self.sd, self.lookback)
        return self.net.fit(X, y, validation_data=(Xv, yv), epochs=epochs, batch_size=64, verbose=2)

    def score(self, series):
        X, y = make_windows((series - self.mu) / self.sd, self.lookback)
        pred = self.net.predict(X, verbose=0)[:, 0]
        return float(np.abs(pred - y).mean() * self.sd), float(1 - np.mean((pred - y) ** 2) / y.var())

    def next_hour(self, history):
        x = (np.asarray(history[-self.lookback:]) - self.mu) / self.sd
        return float(self.net(x[None, :, None]).numpy()[0, 0] * self.sd + self.mu)


series = simulate(5200)
train, valid, test = series[:3800], series[3800:4500], series[4500:]

forecaster = LoadForecaster()
forecaster.fit(train, valid, epochs=10)
mae, r2 = forecaster.score(test)
naive = np.abs(np.diff(test)).mean()
print(f"test MAE {mae:.3f} MW, R2 {r2:.3f} (persistence {naive:.3f} MW)")

live = [abs(forecaster.next_hour(test[:i]) - test[i]) for i in range(LOOKBACK, 124)]
print(f"control room replay, first 100 hours: MAE {np.mean(live):.3f} MW")
