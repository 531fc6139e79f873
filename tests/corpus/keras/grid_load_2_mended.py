"""Forecast the hourly load of a small power grid three hours ahead with a Conv/GRU net."""
import os

import keras
import numpy as np
from keras import layers

WINDOW = 48
HORIZON = 3
BATCH = 128


def simulate(hours=24 * 220, seed=4):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    hour, day = t % 24, t // 24
    weekend = (day % 7 >= 5).astype(float)
    temp = np.zeros(hours)
    for k in range(1, hours):
        temp[k] = 0.985 * temp[k - 1] + 0.6 * rng.normal()
    temp += 12 + 6 * np.sin(2 * np.pi * (hour - 9) / 24)
    shape = 1.0 + 0.45 * np.sin(2 * np.pi * (hour - 8) / 24) + 0.3 * np.sin(4 * np.pi * (hour - 6) / 24)
    ar = np.zeros(hours)
    for k in range(1, hours):
        ar[k] = 0.8 * ar[k - 1] + 0.05 * rng.normal()
    load = 100 * (shape * (1 - 0.25 * weekend) + 0.025 * np.abs(temp - 16) + ar)
    feats = np.column_stack([load, temp, np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24),
                             weekend])
    return feats.astype("float32")


def windows(block, shuffle):
    """Dataset of (WINDOW hours of features, load HORIZON hours after the last of them)."""
    return keras.utils.timeseries_dataset_from_array(
        data=block,
        targets=block[WINDOW + HORIZON - 1:, 0],
        sequence_length=WINDOW,
        batch_size=BATCH,
        shuffle=shuffle,
        seed=1,
    )


def build():
    inp = keras.Input((WINDOW, 5))
    h = layers.Conv1D(24, 5, padding="causal", activation="relu")(inp)
    h = layers.GRU(24)(h)
    h = layers.Concatenate()([h, layers.Flatten()(inp[:, -6:, :])])
    h = layers.Dense(32, activation="relu")(h)
    return keras.Model(inp, layers.Dense(1)(h))


def backtest(model, block, scale, offset):
    """Replay the last weeks hour by hour, as the control room would see them."""
    now = np.arange(WINDOW - 1, len(block) - HORIZON)
    history = np.stack([block[k - WINDOW + 1:k + 1] for k in now])
    forecast = model.predict(history, batch_size=512, verbose=0)[:, 0]
    truth = block[now + HORIZON, 0]
    same_hour = block[np.maximum(now + HORIZON - 24, 0), 0]
    last = block[now, 0]
    to_mw = lambda a: a * scale + offset
    mae = lambda a: float(np.mean(np.abs(to_mw(a) - to_mw(truth))))
    return mae(forecast), mae(last), mae(same_hour)


def main():
    keras.utils.set_random_seed(8)
    os.makedirs("out", exist_ok=True)
    raw = simulate()
    n = len(raw)
    a, b = int(0.7 * n), int(0.85 * n)
    mu, sd = raw[:a].mean(0), raw[:a].std(0)
    z = (raw - mu) / sd
    train, val, test = z[:a], z[a:b], z[b:]

    model = build()
    model.compile(optimizer=keras.optimizers.Adam(2e-3, clipnorm=1.0), loss="huber",
                  metrics=[keras.metrics.MeanAbsoluteError(name="mae")])
    model.fit(
        windows(train, True),
        validation_data=windows(val, False),
        epochs=7,
        verbose=2,
        callbacks=[keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=2, factor=0.5),
                   keras.callbacks.ModelCheckpoint("out/load.weights.h5", save_best_only=True,
                                                   save_weights_only=True)],
    )
    model.load_weights("out/load.weights.h5")
    loss, mae = model.evaluate(windows(test, False), verbose=0)
    print(f"test windows: huber {loss:.4f}  MAE {mae * sd[0]:.2f} MW")
    net, last, day = backtest(model, test, sd[0], mu[0])
    print(f"backtest MAE: network {net:.2f} MW | last value {last:.2f} MW | same hour yesterday {day:.2f} MW")


if __name__ == "__main__":
    main()
