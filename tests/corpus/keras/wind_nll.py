import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers, ops

HOURS = 24


def simulate(n, seed):
    """Hourly output of a wind farm as a share of the installed capacity."""
    rng = np.random.default_rng(seed)
    t = np.arange(n)
    slow = np.zeros(n)
    for i in range(1, n):
        slow[i] = 0.97 * slow[i - 1] + rng.normal(0, 0.25)
    speed = 8 + 2.5 * slow + 1.5 * np.sin(2 * np.pi * t / HOURS)
    power = 1 / (1 + np.exp(-(speed - 9) / 1.8))
    return (power + rng.normal(0, 0.01, n)).clip(0, 1).astype("float32")


def windows(series, width):
    x = np.lib.stride_tricks.sliding_window_view(series, width + 1)
    phase = 2 * np.pi * (np.arange(len(x)) + width) / HOURS
    clock = np.stack([np.sin(phase), np.cos(phase)], axis=1).astype("float32")
    return x[:, :-1, None].copy(), clock, x[:, -1:].copy()


def gaussian_nll(y_true, params):
    mean, raw = params[:, :1], params[:, 1:]
    log_sigma = ops.clip(raw, -6.0, 3.0)
    z = (y_true - mean) * ops.exp(-log_sigma)
    return ops.mean(0.5 * ops.square(z) + log_sigma, axis=-1)


class MeanError(keras.metrics.Metric):
    def __init__(self, name="mae", **kw):
        super().__init__(name=name, **kw)
        self.total = self.add_weight(name="total", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, params, sample_weight=None):
        err = ops.abs(y_true - params[:, :1])
        self.total.assign_add(ops.sum(err))
        self.count.assign_add(ops.cast(ops.size(err), "float32"))

    def result(self):
        return self.total / self.count


def forecaster(width):
    past = keras.Input((width, 1))
    clock = keras.Input((2,))
    h = layers.GRU(24)(past)
    h = layers.Concatenate()([h, clock])
    h = layers.Dense(32, activation="tanh")(h)
    return keras.Model([past, clock], layers.Dense(2)(h))


def main(width=12):
    keras.utils.set_random_seed(2)
    series = simulate(4000, 7)
    past, clock, target = windows(series, width)
    cut = 3200
    net = forecaster(width)
    net.compile(keras.optimizers.Adam(4e-3), loss=gaussian_nll, metrics=[MeanError()])
    stop = keras.callbacks.EarlyStopping("val_loss", mode="min", patience=5, restore_best_weights=True)
    net.fit(
        [past[:cut], clock[:cut]],
        target[:cut],
        validation_data=([past[cut:], clock[cut:]], target[cut:]),
        epochs=14,
        batch_size=64,
        callbacks=[stop],
        verbose=2,
    )
    params = net.predict([past[cut:], clock[cut:]], verbose=0)
    mean, sigma = params[:, 0], np.exp(params[:, 1].clip(-6, 3))
    y = target[cut:, 0]
    covered = (np.abs(y - mean) < 1.645 * sigma).mean()
    print("loss on the last weeks:", round(net.evaluate([past[cut:], clock[cut:]], target[cut:], verbose=0)[0], 3))
    print("MAE of the model:", round(float(np.abs(y - mean).mean()), 4))
    print("MAE of the training mean:", round(float(np.abs(y - target[:cut].mean()).mean()), 4))
    print("MAE of persistence:", round(float(np.abs(y - past[cut:, -1, 0]).mean()), 4))
    print("share inside the 90% band:", round(float(covered), 3))


if __name__ == "__main__":
    main()
