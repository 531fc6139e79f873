"""Forecast next-day runoff from green roofs with a small temporal CNN."""
from __future__ import annotations

from dataclasses import dataclass

import keras
import numpy as np
from keras import layers


@dataclass
class Config:
    window: int = 28
    n_days: int = 2400
    batch_size: int = 32
    epochs: int = 15
    base_lr: float = 2e-3
    val_fraction: float = 0.2
    seed: int = 17


def simulate_weather(cfg: Config) -> np.ndarray:
    """Return an array of (rain, temperature, storage, runoff) per day."""
    rng = np.random.default_rng(cfg.seed)
    rain = rng.gamma(0.6, 6.0, cfg.n_days) * (rng.random(cfg.n_days) < 0.45)
    season = np.sin(2 * np.pi * np.arange(cfg.n_days) / 365.0)
    temp = 12 + 9 * season + rng.normal(0, 2.0, cfg.n_days)
    storage, runoff = np.zeros(cfg.n_days), np.zeros(cfg.n_days)
    level = 10.0
    for day in range(cfg.n_days):
        level += rain[day]
        drained = 0.35 * max(level - 12.0, 0.0)
        evaporated = min(level, 0.08 * max(temp[day], 0.0))
        level = max(level - drained - evaporated, 0.0)
        storage[day], runoff[day] = level, drained
    return np.stack([rain, temp, storage, runoff], axis=1).astype("float32")


def make_windows(table: np.ndarray, cfg: Config) -> tuple[np.ndarray, np.ndarray]:
    """Inputs are the last `window` days; the target is the next day's runoff given known rain."""
    xs, ys = [], []
    for end in range(cfg.window, len(table)):
        block = table[end - cfg.window:end + 1, :3].copy()
        block[-1, 2] = 0.0
        xs.append(block)
        ys.append(table[end, 3])
    return np.stack(xs), np.asarray(ys, dtype="float32")


def split_and_scale(x: np.ndarray, y: np.ndarray, cfg: Config):
    cut = int(len(x) * (1 - cfg.val_fraction))
    mean, std = x[:cut].mean(axis=(0, 1)), x[:cut].std(axis=(0, 1))
    y_mean, y_std = y[:cut].mean(), y[:cut].std()
    x = (x - mean) / std
    y = (y - y_mean) / y_std
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def build_model(cfg: Config, n_features: int) -> keras.Model:
    inputs = keras.Input((cfg.window + 1, n_features))
    h = inputs
    for dilation in (1, 2, 4):
        skip = layers.Conv1D(24, 1)(h)
        h = layers.Conv1D(24, 3, dilation_rate=dilation, padding="causal", activation="relu")(h)
        h = layers.Add()([h, skip])
        h = layers.LayerNormalization()(h)
    last = layers.Lambda(lambda t: t[:, -1, :])(h)
    h = layers.Dense(32, activation="relu")(last)
    outputs = layers.Dense(1)(h)
    return keras.Model(inputs, outputs, name="roof_tcn")


def build_optimizer(cfg: Config, n_train: int) -> keras.optimizers.Optimizer:
    steps_per_epoch = int(np.ceil(n_train / cfg.batch_size))
    print(f"{steps_per_epoch} updates per epoch, {cfg.epochs} epochs")
    schedule = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=cfg.base_lr,
        decay_steps=cfg.epochs,
    )
    return keras.optimizers.AdamW(learning_rate=schedule, weight_decay=1e-4, clipnorm=1.0)


def main() -> None:
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    table = simulate_weather(cfg)
    x, y = make_windows(table, cfg)
    (x_train, y_train), (x_val, y_val) = split_and_scale(x, y, cfg)

    model = build_model(cfg, x.shape[-1])
    model.compile(optimizer=build_optimizer(cfg, len(x_train)), loss="mse", metrics=["mae"])
    model.fit(
        x_train,
        y_train,
        validation_data=(x_val, y_val),
        batch_size=cfg.batch_size,
        epochs=cfg.epochs,
        verbose=2,
    )

    pred = model.predict(x_val, verbose=0)[:, 0]
    r2 = 1 - np.mean((pred - y_val) ** 2) / np.var(y_val)
    print(f"validation R2: {r2:.3f}")


if __name__ == "__main__":
    main()
