"""Hourly demand of a heating network: GRU one-step model, then a 24 h roll-out."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers

LOOKBACK = 36


class DemandData:
    def __init__(self, hours=4000, seed=6):
        rng = np.random.default_rng(seed)
        t = np.arange(hours)
        noise = np.zeros(hours)
        for k in range(1, hours):
            noise[k] = 0.85 * noise[k - 1] + rng.normal(0, 0.8)
        base = 50 + 12 * np.sin(2 * np.pi * t / 24) + 6 * np.sin(4 * np.pi * t / 24 + 1)
        weekly = np.where((t // 24) % 7 >= 5, -5.0, 0.0)
        self.series = (base + weekly + noise).astype("float32")
        self.cut = int(0.8 * hours)
        self.mean = self.series[:self.cut].mean()
        self.std = self.series[:self.cut].std()
        self.scaled = (self.series - self.mean) / self.std

    def windows(self, part):
        s = self.scaled[:self.cut] if part == "train" else self.scaled[self.cut:]
        x, y = [], []
        for start in range(len(s) - LOOKBACK):
            x.append(s[start:start + LOOKBACK])
            y.append(s[start + LOOKBACK])
        return np.array(x)[..., None], np.array(y)


def build():
    model = keras.Sequential([
        keras.Input((LOOKBACK, 1)),
        layers.GRU(32),
        layers.Dense(1),
    ])
    model.compile(optimizer=keras.optimizers.Adam(4e-3), loss="mse", metrics=["mae"])
    return model


def roll_out(model, data, horizon=24):
    test = data.scaled[data.cut:]
    starts = np.arange(0, len(test) - LOOKBACK - horizon, 12)
    window = np.stack([test[s:s + LOOKBACK] for s in starts])
    truth = np.stack([test[s + LOOKBACK:s + LOOKBACK + horizon] for s in starts])
    preds = []
    for _ in range(horizon):
        nxt = model(window[..., None], training=False).numpy()
        preds.append(nxt[:, 0])
        window = np.concatenate([window[:, 1:], nxt], 1)
    err = np.abs(np.stack(preds, 1) - truth) * data.std
    return err


def main():
    keras.utils.set_random_seed(6)
    data = DemandData()
    x, y = data.windows("train")
    xv, yv = data.windows("test")
    model = build()
    model.fit(x, y, validation_data=(xv, yv), epochs=10, batch_size=64, verbose=2)
    _, mae = model.evaluate(xv, yv, verbose=0)
    print(f"one-step test MAE: {mae * data.std:.2f} MW")
    err = roll_out(model, data)
    print(f"roll-out MAE: first hour {err[:, 0].mean():.2f} MW, over 24 h {err.mean():.2f} MW")


if __name__ == "__main__":
    main()
