"""Forecast of hourly electricity load with an interval: the network gives a mean and a spread."""
from dataclasses import dataclass

import keras
import numpy as np
from keras import layers, ops


@dataclass
class Config:
    hours: int = 24 * 320
    units: int = 48
    lr: float = 3e-3
    batch_size: int = 64
    epochs: int = 30
    patience: int = 6
    seed: int = 5


class GaussianNLL(keras.losses.Loss):
    """Negative log likelihood of a normal distribution, without its constant."""

    def call(self, y_true, y_pred):
        mean, raw = ops.split(y_pred, 2, axis=-1)
        scale = ops.softplus(raw) + 1e-3
        z = (y_true - mean) / scale
        return ops.mean(0.5 * ops.square(z) + ops.log(scale), axis=-1)


class Coverage(keras.metrics.Metric):
    """Share of the targets inside the central 90 % interval."""

    def __init__(self, name="coverage", **kwargs):
        super().__init__(name=name, **kwargs)
        self.inside = self.add_weight(name="inside", initializer="zeros")
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        mean, raw = ops.split(y_pred, 2, axis=-1)
        scale = ops.softplus(raw) + 1e-3
        hit = ops.cast(ops.abs(ops.cast(y_true, mean.dtype) - mean) < 1.645 * scale, "float32")
        self.inside.assign_add(ops.sum(hit))
        self.count.assign_add(ops.cast(ops.size(hit), "float32"))

    def result(self):
        return self.inside / ops.maximum(self.count, 1.0)


def simulate(cfg):
    rng = np.random.default_rng(cfg.seed)
    t = np.arange(cfg.hours)
    hour = t % 24
    weekday = (t // 24) % 7
    temperature = 12 + 9 * np.sin(2 * np.pi * t / (24 * 160)) + 4 * np.sin(2 * np.pi * (hour - 9) / 24)
    temperature = temperature + rng.normal(0, 1.5, cfg.hours)
    base = 300 + 90 * np.sin(2 * np.pi * (hour - 8) / 24) + 40 * np.sin(4 * np.pi * (hour - 5) / 24)
    base = base - 60 * (weekday >= 5) + 6 * np.abs(temperature - 15)
    noise = np.where((hour >= 7) & (hour <= 21), 6.0, 1.5)
    load = base + rng.normal(0, 1, cfg.hours) * noise
    features = np.stack([
        np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24),
        np.sin(4 * np.pi * hour / 24), np.cos(4 * np.pi * hour / 24),
        (weekday >= 5).astype(float), temperature,
    ], axis=1)
    return features.astype("float32"), load.astype("float32")[:, None]


def build(cfg, x_train):
    norm = layers.Normalization()
    norm.adapt(x_train)
    inputs = keras.Input((x_train.shape[1],))
    x = norm(inputs)
    x = layers.Dense(cfg.units, activation="tanh")(x)
    x = layers.Dense(cfg.units, activation="tanh")(x)
    mean = layers.Dense(1, name="mean")(x)
    raw = layers.Dense(1, name="raw_scale")(x)
    return keras.Model(inputs, layers.Concatenate()([mean, raw]))


def main(cfg=Config()):
    keras.utils.set_random_seed(cfg.seed)
    x, y = simulate(cfg)
    cut = int(0.8 * len(x))
    centre, spread = y[:cut].mean(), y[:cut].std()
    y = (y - centre) / spread

    model = build(cfg, x[:cut])
    model.compile(optimizer=keras.optimizers.Adam(cfg.lr, clipnorm=5.0), loss=GaussianNLL(), metrics=[Coverage()])
    callbacks = [
        keras.callbacks.EarlyStopping(monitor="val_loss", patience=cfg.patience, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.3, patience=3),
    ]
    model.fit(x[:cut], y[:cut], validation_data=(x[cut:], y[cut:]), batch_size=cfg.batch_size,
              epochs=cfg.epochs, callbacks=callbacks, verbose=2)

    mean = model.predict(x[cut:], verbose=0)[:, :1] * spread + centre
    truth = y[cut:] * spread + centre
    nll, coverage = model.evaluate(x[cut:], y[cut:], verbose=0)
    print(f"MAE {np.abs(mean - truth).mean():.2f} MW (guess by the mean {np.abs(truth - centre).mean():.2f})")
    print(f"negative log likelihood {nll:.3f}, 90 % interval covers {coverage:.3f}")


if __name__ == "__main__":
    main()
