from __future__ import annotations

import math
import os
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


@dataclass
class Config:
    epochs: int = 25
    batch_size: int = 32
    base_lr: float = 2e-3
    weight_decay: float = 1e-4
    width: int = 96
    blocks: int = 3
    seed: int = 5


class ResidualBlock(layers.Layer):
    def __init__(self, width: int, drop: float = 0.1, **kw):
        super().__init__(**kw)
        self.norm = layers.LayerNormalization()
        self.up = layers.Dense(2 * width, activation="gelu")
        self.down = layers.Dense(width)
        self.drop = layers.Dropout(drop)

    def call(self, x, training=None):
        h = self.down(self.up(self.norm(x)))
        return x + self.drop(h, training=training)


def get_optimizer(cfg: Config, n_rows: int) -> keras.optimizers.Optimizer:
    steps_per_epoch = math.ceil(n_rows / cfg.batch_size)
    print(f"{steps_per_epoch} steps per epoch")
    schedule = keras.optimizers.schedules.CosineDecay(
        initial_learning_rate=cfg.base_lr,
        decay_steps=cfg.epochs,
        alpha=0.0,
    )
    return keras.optimizers.AdamW(schedule, weight_decay=cfg.weight_decay, clipnorm=1.0)


def get_model(cfg: Config, n_features: int, n_classes: int) -> keras.Model:
    inputs = keras.Input((n_features,))
    x = layers.Dense(cfg.width)(inputs)
    for _ in range(cfg.blocks):
        x = ResidualBlock(cfg.width)(x)
    x = layers.LayerNormalization()(x)
    outputs = layers.Dense(n_classes)(x)
    return keras.Model(inputs, outputs)


def run(cfg: Config) -> None:
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    X, y = load_digits(return_X_y=True)
    X = X + rng.normal(0, 2.0, X.shape)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, stratify=y, random_state=1)
    scaler = StandardScaler().fit(X_tr)
    X_tr, X_te = scaler.transform(X_tr), scaler.transform(X_te)

    model = get_model(cfg, X.shape[1], 10)
    model.compile(
        optimizer=get_optimizer(cfg, len(X_tr)),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(X_tr, y_tr, batch_size=cfg.batch_size, epochs=cfg.epochs,
                        validation_data=(X_te, y_te), verbose=0)
    for epoch in range(0, cfg.epochs, 4):
        row = {k: round(float(v[epoch]), 3) for k, v in history.history.items()}
        print(epoch, row)
    print("final test accuracy:", round(model.evaluate(X_te, y_te, verbose=0)[1], 3))


if __name__ == "__main__":
    run(Config())
