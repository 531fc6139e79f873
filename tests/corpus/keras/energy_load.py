import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import keras
from keras import layers
from sklearn.model_selection import train_test_split

FEATURES = ["outdoor_temp", "humidity", "occupancy", "hour_sin", "hour_cos", "floor_area"]
TARGET = "kwh"


def meter_readings(n=3000, seed=6):
    rng = np.random.default_rng(seed)
    hour = rng.integers(0, 24, n)
    df = pd.DataFrame({
        "outdoor_temp": 12 + 9 * rng.normal(size=n),
        "humidity": rng.uniform(25, 95, n),
        "occupancy": rng.poisson(14, n).astype(float),
        "hour_sin": np.sin(2 * np.pi * hour / 24),
        "hour_cos": np.cos(2 * np.pi * hour / 24),
        "floor_area": rng.uniform(80, 900, n),
    })
    df[TARGET] = (0.06 * df.floor_area + 0.9 * (df.outdoor_temp - 18).abs()
                  + 0.7 * df.occupancy - 6 * df.hour_cos + 0.05 * df.humidity
                  + rng.normal(0, 2, n))
    df.loc[rng.random(n) < 0.03, "humidity"] = np.nan
    df.loc[rng.random(n) < 0.02, "outdoor_temp"] = np.nan
    return df


def clean(df):
    df = df.copy()
    medians = df[["humidity", "outdoor_temp"]].median()
    df.fillna(medians)
    df["floor_area"] = df["floor_area"].clip(lower=50)
    return df


class EpochPrinter(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 5 == 0:
            print(f"epoch {epoch} " + " ".join(f"{k}={v:.4f}" for k, v in logs.items()))


class LoadForecaster:
    def __init__(self, epochs=30, lr=2e-3):
        self.epochs = epochs
        self.lr = lr

    def _features(self, df):
        return ((df[FEATURES] - self.mu) / self.sd).to_numpy("float32")

    def fit(self, df):
        self.mu, self.sd = df[FEATURES].mean(), df[FEATURES].std()
        self.t_mu, self.t_sd = df[TARGET].mean(), df[TARGET].std()
        y = ((df[TARGET] - self.t_mu) / self.t_sd).to_numpy("float32")
        self.net = keras.Sequential([
            layers.Input((len(FEATURES),)),
            layers.Dense(48, activation="relu"),
            layers.Dense(24, activation="relu"),
            layers.Dense(1),
        ])
        self.net.compile(optimizer=keras.optimizers.Adam(self.lr), loss="mse", metrics=["mae"])
        return self.net.fit(self._features(df), y, epochs=self.epochs, batch_size=64,
                            verbose=0, callbacks=[EpochPrinter()])

    def predict(self, df):
        out = self.net.predict(self._features(df), verbose=0).ravel()
        return out * self.t_sd + self.t_mu


if __name__ == "__main__":
    keras.utils.set_random_seed(6)
    data = clean(meter_readings())
    train, test = train_test_split(data, test_size=0.2, random_state=0)
    forecaster = LoadForecaster()
    history = forecaster.fit(train)
    mae = np.abs(forecaster.predict(test) - test[TARGET]).mean()
    naive = np.abs(train[TARGET].mean() - test[TARGET]).mean()
    print(f"final loss {history.history['loss'][-1]:.4f}")
    print(f"test MAE {mae:.3f} kWh, mean forecast {naive:.3f} kWh")
