"""Forecasts the wind speed of the next hour from the last 24 hours, fed by a keras PyDataset."""
import argparse
import logging
import math

import keras
import numpy as np
from keras import layers

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("windgauge")


class Windows(keras.utils.PyDataset):
    def __init__(self, series, length, batch_size, shuffle=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.series = series.astype("float32")
        self.length = length
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.rng = np.random.default_rng(seed)
        self.starts = np.arange(len(series) - length)
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.starts) / self.batch_size)

    def __getitem__(self, i):
        rows = self.starts[i * self.batch_size : (i + 1) * self.batch_size]
        x = np.stack([self.series[s : s + self.length] for s in rows])
        y = self.series[rows + self.length, 0]
        return x, y[:, None]

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.starts)


def make_station(hours, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    daily = 2.0 * np.sin(2 * np.pi * t / 24)
    front = np.zeros(hours)
    for i in range(1, hours):
        front[i] = 0.95 * front[i - 1] + rng.normal(0, 0.5)
    pressure = 1013 - 3 * front + rng.normal(0, 0.3, hours)
    speed = 7 + daily + front + rng.normal(0, 0.3, hours)
    return np.stack([speed, pressure], axis=1)


def build(length, channels):
    model = keras.Sequential(
        [
            keras.Input((length, channels)),
            layers.Conv1D(24, 3, activation="relu"),
            layers.GRU(24),
            layers.Dense(16, activation="relu"),
            layers.Dense(1),
        ]
    )
    model.compile(optimizer=keras.optimizers.Adam(2e-3), loss="mse", metrics=["mae"])
    return model


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--hours", type=int, default=3000)
    p.add_argument("--length", type=int, default=24)
    p.add_argument("--epochs", type=int, default=6)
    args = p.parse_args()
    keras.utils.set_random_seed(5)

    data = make_station(args.hours, 5)
    cut = int(0.8 * len(data))
    mean, std = data[:cut].mean(0), data[:cut].std(0)
    data = (data - mean) / std
    train = Windows(data[:cut], args.length, 64, shuffle=True, seed=1)
    valid = Windows(data[cut:], args.length, 128)

    model = build(args.length, data.shape[1])
    model.fit(
        train,
        validation_data=valid,
        epochs=args.epochs,
        verbose=2,
        workers=2,
        use_multiprocessing=False,
        callbacks=[keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)],
    )

    truth = np.concatenate([valid[i][1] for i in range(len(valid))])[:, 0]
    pred = model.predict(valid, verbose=0)[:, 0]
    persistence = np.concatenate([valid[i][0][:, -1, 0] for i in range(len(valid))])
    log.info("MSE %.4f  persistence %.4f  mean %.4f", np.mean((pred - truth) ** 2),
             np.mean((persistence - truth) ** 2), np.var(truth))


if __name__ == "__main__":
    main()
