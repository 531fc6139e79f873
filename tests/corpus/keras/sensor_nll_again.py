import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(8)
N = 1600
WINDOW = 16


def make_series(rng):
    """Slow drift whose noise level depends on the load channel."""
    t = np.arange(N + WINDOW)
    load = 0.5 + 0.5 * np.sin(2 * np.pi * t / 90)
    base = 0.6 * np.sin(2 * np.pi * t / 37) + 0.2 * np.sin(2 * np.pi * t / 11)
    value = base + rng.normal(0, 1, len(t)) * (0.02 + 0.12 * load)
    return np.stack([value, load], axis=1).astype("float32")


def windows(series):
    x = np.stack([series[i:i + WINDOW] for i in range(N)])
    y = series[WINDOW:WINDOW + N, 0]
    return x, y[:, None]


def gaussian_nll(y_true, y_pred):
    mean, log_std = ops.split(y_pred, 2, axis=-1)
    log_std = ops.clip(log_std, -5.0, 3.0)
    z = (y_true - mean) * ops.exp(-log_std)
    return ops.mean(log_std + 0.5 * ops.square(z) + 0.5 * np.log(2 * np.pi), axis=-1)


def mean_mae(y_true, y_pred):
    return ops.mean(ops.abs(y_true - y_pred[:, :1]), axis=-1)


class Forecaster:
    def __init__(self, epochs=30):
        self.epochs = epochs
        self.model = keras.Sequential([
            keras.Input((WINDOW, 2)),
            layers.Conv1D(24, 4, activation="relu"),
            layers.Conv1D(24, 4, activation="relu"),
            layers.Flatten(),
            layers.Dense(32, activation="relu"),
            layers.Dense(2),
        ])
        self.model.compile(optimizer=keras.optimizers.Adam(1.5e-3, clipnorm=5.0),
                           loss=gaussian_nll, metrics=[mean_mae])

    def fit(self, x, y, val):
        plateau = keras.callbacks.ReduceLROnPlateau(
            monitor="val_loss", mode="min", factor=0.3, patience=4)
        stop = keras.callbacks.EarlyStopping(
            monitor="val_loss", mode="min", patience=9, restore_best_weights=True)
        self.model.fit(x, y, validation_data=val, epochs=self.epochs, batch_size=64,
                       callbacks=[plateau, stop], verbose=2)
        return self

    def predict(self, x):
        out = self.model.predict(x, verbose=0)
        return out[:, 0], np.exp(np.clip(out[:, 1], -5, 3))


def main():
    x, y = windows(make_series(np.random.default_rng(8)))
    a, b = int(0.7 * N), int(0.85 * N)
    f = Forecaster().fit(x[:a], y[:a], (x[a:b], y[a:b]))
    mean, std = f.predict(x[b:])
    truth = y[b:, 0]
    r2 = 1 - ((truth - mean) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    inside = (np.abs(truth - mean) < 1.64 * std).mean()
    nll = f.model.evaluate(x[b:], y[b:], verbose=0)[0]
    flat = np.log(truth.std()) + 0.5 + 0.5 * np.log(2 * np.pi)
    print(f"test nll {nll:.3f} (constant gaussian {flat:.3f})  r2 {r2:.3f}  90% band covers {inside:.3f}")


if __name__ == "__main__":
    main()
