import keras
import numpy as np
from keras import layers, ops

CONFIG = dict(n=3000, hidden=48, components=2, epochs=25, batch_size=64, lr=3e-3, seed=6)


def wind_table(n, rng):
    """Relative wind power between two neighbouring masts, given hour and season."""
    hour = rng.uniform(0, 2 * np.pi, n)
    season = rng.uniform(0, 2 * np.pi, n)
    centre = 0.04 * np.sin(hour) + 0.03 * np.cos(season)
    width = 0.01 + 0.006 * (1 + np.cos(hour))
    side = np.where(rng.random(n) < 0.5, -0.06, 0.06)
    y = centre + side + width * rng.normal(size=n)
    x = np.stack([np.sin(hour), np.cos(hour), np.sin(season), np.cos(season)], axis=1)
    return x.astype("float32"), y.astype("float32")[:, None]


def mixture_nll(y_true, params):
    weight_logits, means, raw = ops.split(params, 3, axis=-1)
    log_w = ops.log_softmax(weight_logits, axis=-1)
    sigma = ops.softplus(raw) + 1e-3
    z = (y_true - means) / sigma
    log_p = -0.5 * ops.square(z) - ops.log(sigma) - 0.5 * float(np.log(2 * np.pi))
    return -ops.logsumexp(log_w + log_p, axis=-1)


class DensityNet:
    def __init__(self, cfg):
        self.cfg = cfg
        k = cfg["components"]
        start = np.concatenate([np.zeros(k), np.linspace(-0.1, 0.1, k), np.full(k, -3.0)])
        self.model = keras.Sequential([
            keras.Input((4,)),
            layers.Dense(cfg["hidden"], activation="tanh"),
            layers.Dense(cfg["hidden"], activation="tanh"),
            layers.Dense(
                3 * k,
                kernel_initializer=keras.initializers.RandomNormal(stddev=0.01),
                bias_initializer=lambda shape, dtype=None: ops.convert_to_tensor(start, dtype=dtype),
            ),
        ])
        self.model.compile(optimizer=keras.optimizers.Adam(cfg["lr"], clipnorm=5.0), loss=mixture_nll)

    def fit(self, x, y, x_val, y_val):
        return self.model.fit(
            x, y, validation_data=(x_val, y_val), epochs=self.cfg["epochs"],
            batch_size=self.cfg["batch_size"], verbose=2,
        )

    def score(self, x, y):
        return self.model.evaluate(x, y, verbose=0)


def main():
    cfg = CONFIG
    keras.utils.set_random_seed(cfg["seed"])
    rng = np.random.default_rng(cfg["seed"])
    x, y = wind_table(cfg["n"], rng)
    x_test, y_test = wind_table(800, rng)
    net = DensityNet(cfg)
    print(f"before training: nll {net.score(x_test, y_test):.4f}")
    net.fit(x, y, x_test, y_test)
    sd = y.std()
    gauss = float(np.mean(0.5 * ((y_test - y.mean()) / sd) ** 2 + np.log(sd) + 0.5 * np.log(2 * np.pi)))
    print(f"test nll {net.score(x_test, y_test):.4f}, of one fixed gaussian {gauss:.4f}")


if __name__ == "__main__":
    main()
