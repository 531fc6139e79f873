"""Multi-label annotation: several functions per sample, watched by AUC."""
import os
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from keras import layers, ops


@dataclass
class Config:
    n: int = 4000
    features: int = 40
    tags: int = 8
    width: int = 64
    epochs: int = 15
    batch: int = 64
    lr: float = 1e-3
    seed: int = 8


def simulate(cfg):
    rng = np.random.default_rng(cfg.seed)
    x = rng.normal(size=(cfg.n, cfg.features)).astype("float32")
    w = rng.normal(size=(cfg.features, cfg.tags)) / np.sqrt(cfg.features)
    score = 4.0 * (x @ w) - np.linspace(1.5, 4.0, cfg.tags)
    y = (rng.random(score.shape) < 1 / (1 + np.exp(-score))).astype("float32")
    return x, y


class TagNet(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.block = keras.Sequential(
            [
                layers.Dense(cfg.width, activation="gelu"),
                layers.Dropout(0.2),
                layers.Dense(cfg.width, activation="gelu"),
            ]
        )
        self.head = layers.Dense(cfg.tags)

    def call(self, inputs, training=False):
        return self.head(self.block(inputs, training=training))


def split(x, y, parts=(0.7, 0.15)):
    a = int(parts[0] * len(x))
    b = a + int(parts[1] * len(x))
    return (x[:a], y[:a]), (x[a:b], y[a:b]), (x[b:], y[b:])


def run(cfg):
    keras.utils.set_random_seed(cfg.seed)
    train, val, test = split(*simulate(cfg))
    model = TagNet(cfg)
    model.compile(
        optimizer=keras.optimizers.Adam(cfg.lr),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        metrics=[
            keras.metrics.AUC(
                name="auc",
                multi_label=True,
                num_labels=cfg.tags,
            )
        ],
    )
    best = keras.callbacks.EarlyStopping(
        monitor="val_auc", mode="max", patience=5, restore_best_weights=True
    )
    model.fit(
        *train,
        validation_data=val,
        epochs=cfg.epochs,
        batch_size=cfg.batch,
        callbacks=[best],
        verbose=2,
    )
    results = model.evaluate(*test, verbose=0, return_dict=True)
    print("test loss %.4f  test auc %.4f" % (results["loss"], results["auc"]))
    print("tags per sample", float(ops.mean(ops.sum(test[1], axis=1))))


if __name__ == "__main__":
    run(Config())
