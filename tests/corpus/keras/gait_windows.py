import os
from dataclasses import dataclass

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import keras
import numpy as np
from keras import layers


@dataclass
class Config:
    window: int = 80
    channels: int = 3
    classes: int = 5
    base_lr: float = 1e-3
    decay: float = 0.85
    epochs: int = 16
    batch_size: int = 64
    seed: int = 5


def simulate(cfg, n, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(cfg.window) / 50.0
    y = rng.integers(0, cfg.classes, n)
    base = np.array([1.4, 1.65, 1.9, 2.15, 2.4])
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1, 1))
    freq = base[y][:, None, None] + rng.normal(scale=0.05, size=(n, 1, 1))
    axis = np.array([0.0, 0.9, 2.1])[None, None, :]
    signal = np.sin(2 * np.pi * freq * t[None, :, None] + phase + axis)
    signal += 0.4 * np.sin(4 * np.pi * freq * t[None, :, None] + 2 * phase)
    signal += rng.normal(scale=0.7, size=signal.shape)
    return signal.astype("float32"), y


class GaitClassifier:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = self._build()

    def _build(self):
        c = self.cfg
        model = keras.Sequential(
            [
                keras.Input((c.window, c.channels)),
                layers.Conv1D(16, 9, strides=2, activation="relu", padding="same"),
                layers.Conv1D(24, 7, strides=4, activation="relu", padding="same"),
                layers.GRU(24),
                layers.Dense(c.classes),
            ]
        )
        model.compile(
            optimizer=keras.optimizers.Adam(c.base_lr),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        return model

    def _rate(self, epoch, lr):
        return lr * self.cfg.decay**epoch

    def fit(self, x, y, x_val, y_val):
        schedule = keras.callbacks.LearningRateScheduler(self._rate)
        return self.model.fit(
            x,
            y,
            validation_data=(x_val, y_val),
            epochs=self.cfg.epochs,
            batch_size=self.cfg.batch_size,
            callbacks=[schedule],
            verbose=2,
        )

    def score(self, x, y):
        return self.model.evaluate(x, y, verbose=0)


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    x, y = simulate(cfg, 2000, 1)
    x_val, y_val = simulate(cfg, 400, 2)
    x_test, y_test = simulate(cfg, 800, 3)
    clf = GaitClassifier(cfg)
    clf.fit(x, y, x_val, y_val)
    loss, acc = clf.score(x_test, y_test)
    print("test loss", round(loss, 3), "test accuracy", round(acc, 3))


if __name__ == "__main__":
    main()
