"""One-step-ahead river level forecast with a GRU on raw and smoothed level."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import keras


def simulate(n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    season = 0.8 * np.sin(2 * np.pi * t / 168) + 0.4 * np.sin(2 * np.pi * t / 24)
    ar = np.zeros(n)
    for i in range(2, n):
        ar[i] = 1.6 * ar[i - 1] - 0.85 * ar[i - 2] + rng.normal(0, 0.25)
    return (season + ar + 3.0).astype("float32")


def smooth(x, width=5):
    kernel = np.ones(width, "float32") / width
    return np.convolve(x, kernel, mode="full")[: len(x)]


def windows(level, width):
    feats = np.stack([level, smooth(level)], axis=1)
    xs = np.stack([feats[i : i + width] for i in range(len(level) - width - 4)])
    ys = level[width : width + len(xs)]
    return xs.astype("float32"), ys


def build(width):
    return keras.Sequential([
        keras.Input((width, 2)),
        keras.layers.GRU(32),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1),
    ])


def main():
    keras.utils.set_random_seed(4)
    width = 16
    level = simulate(4000, seed=9)
    split = 3200
    mean, std = level[:split].mean(), level[:split].std()
    level = (level - mean) / std
    x_train, y_train = windows(level[:split], width)
    x_val, y_val = windows(level[split:], width)

    model = build(width)
    model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="mse", metrics=["mae"])
    model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=12, batch_size=64, verbose=2)

    pred = model.predict(x_val, verbose=0)[:, 0]
    naive = np.abs(x_val[:, -1, 0] - y_val).mean() * std
    print(f"persistence MAE {naive:.3f} m")
    print(f"model MAE       {np.abs(pred - y_val).mean() * std:.3f} m")


if __name__ == "__main__":
    main()
