import numpy as np
import keras
from keras import layers, ops

WINDOW = 36


def tide_series(n, rng):
    t = np.arange(n)
    level = 1.2 * np.sin(2 * np.pi * t / 12.4) + 0.4 * np.sin(2 * np.pi * t / 25.8)
    storm = 0.5 * (1 + np.sin(2 * np.pi * t / 61.0))
    gauge = level + rng.normal(0, 1, n) * (0.01 + 0.06 * storm ** 2)
    return np.stack([gauge, storm], axis=1).astype("float32")


def windows(series):
    idx = np.arange(len(series) - WINDOW)
    past = np.stack([series[i:i + WINDOW] for i in idx])
    return past, series[WINDOW:, :1]


def gaussian_nll(y_true, y_pred):
    mean, log_var = y_pred[:, :1], y_pred[:, 1:]
    return ops.mean(0.5 * (log_var + ops.square(y_true - mean) * ops.exp(-log_var)), axis=-1)


class SpreadModel(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.encoder = layers.GRU(units)
        self.hidden = layers.Dense(units, activation="tanh")
        self.mean = layers.Dense(1)
        self.log_var = layers.Dense(1)

    def call(self, x):
        h = self.hidden(self.encoder(x))
        spread = ops.clip(self.log_var(h), -9.0, 4.0)
        return ops.concatenate([self.mean(h), spread], axis=1)


def main():
    keras.utils.set_random_seed(33)
    rng = np.random.default_rng(33)
    x, y = windows(tide_series(3200, rng))
    cut = 2500
    x_train, y_train, x_test, y_test = x[:cut], y[:cut], x[cut:], y[cut:]

    model = SpreadModel(32)
    steps = 16 * int(np.ceil(cut * 0.88 / 32))
    model.compile(
        optimizer=keras.optimizers.Adam(
            keras.optimizers.schedules.CosineDecay(4e-3, steps), clipnorm=1.0
        ),
        loss=gaussian_nll,
    )
    model.fit(x_train, y_train, validation_split=0.12, epochs=16, batch_size=32, verbose=2)

    out = model.predict(x_test, verbose=0)
    sigma = np.exp(0.5 * out[:, 1])
    error = np.abs(out[:, 0] - y_test[:, 0])
    baseline = np.abs(x_test[:, -1, 0] - y_test[:, 0])
    print(f"test nll {model.evaluate(x_test, y_test, verbose=0):.3f}")
    print(f"constant gaussian nll {0.5 * np.log(y_train.var()) + 0.5:.3f}")
    print(f"mae {error.mean():.4f}  last value mae {baseline.mean():.4f}")
    print(f"share inside two sigma {np.mean(error < 2 * sigma):.3f}")


if __name__ == "__main__":
    main()
