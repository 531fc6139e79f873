import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass

import numpy as np
import keras
from keras import layers


@dataclass
class Settings:
    days: int = 2200
    window: int = 21
    train_share: float = 0.75
    epochs: int = 25
    batch_size: int = 32
    lr: float = 2e-3


def river_level(days, seed=19):
    rng = np.random.default_rng(seed)
    season = 1.0 + 0.6 * np.sin(2 * np.pi * np.arange(days) / 365)
    rain = rng.gamma(0.4, 4.0, days) * season
    level = np.zeros(days)
    level[0] = 10
    for d in range(1, days):
        soak = rain[d - 1] if d == 1 else 0.6 * rain[d - 1] + 0.4 * rain[d - 2]
        level[d] = 0.85 * level[d - 1] + 0.5 * soak + rng.normal(0, 0.15)
    return np.stack([level, rain], 1)


def windows(series, size):
    x = np.stack([series[i:i + size] for i in range(len(series) - size)])
    y = series[size:, 0] - series[size - 1:-1, 0]
    return x.astype("float32"), y.astype("float32")[:, None]


class DecayPrinter(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        if epoch % 6 == 0:
            print(f"epoch {epoch} loss {logs['loss']:.4f} val {logs['val_loss']:.4f}")


def main(s):
    keras.utils.set_random_seed(19)
    series = river_level(s.days)
    cut = int(s.train_share * len(series))
    mu, sd = series[:cut].mean(0), series[:cut].std(0)
    scaled = (series - mu) / sd
    x_tr, y_tr = windows(scaled[:cut], s.window)
    x_te, y_te = windows(scaled[cut - s.window:], s.window)

    model = keras.Sequential([
        layers.Input((s.window, 2)),
        layers.LSTM(24),
        layers.Dense(1, kernel_initializer="zeros"),
    ])
    steps = s.epochs * (len(x_tr) // s.batch_size)
    schedule = keras.optimizers.schedules.CosineDecay(s.lr, steps)
    model.compile(optimizer=keras.optimizers.Adam(schedule, clipnorm=1.0), loss="huber")
    model.fit(x_tr, y_tr, validation_data=(x_te, y_te), epochs=s.epochs,
              batch_size=s.batch_size, shuffle=False, verbose=0, callbacks=[DecayPrinter()])

    delta = model.predict(x_te, verbose=0)
    rmse = float(np.sqrt(np.mean((delta - y_te) ** 2)) * sd[0])
    persistence = float(np.sqrt(np.mean(y_te ** 2)) * sd[0])
    print(f"test rmse {rmse:.4f} persistence rmse {persistence:.4f}")


if __name__ == "__main__":
    main(Settings())
