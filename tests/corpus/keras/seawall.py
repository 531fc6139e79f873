"""Predict the overtopping of a sea wall from the last hours of wave records (custom loop under a distribution strategy)."""
from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


@dataclass
class RunConfig:
    hours: int = 24
    rows: int = 2400
    per_replica_batch: int = 32
    epochs: int = 8
    learning_rate: float = 2e-3
    seed: int = 19


def make_records(cfg: RunConfig) -> tuple[np.ndarray, np.ndarray]:
    """Wave height, wind and tide over `hours`; the target is a smooth function of the last ones."""
    rng = np.random.default_rng(cfg.seed)
    height = np.abs(np.cumsum(rng.normal(0, 0.25, (cfg.rows, cfg.hours)), axis=1) + rng.uniform(0.5, 2.5, (cfg.rows, 1)))
    wind = rng.normal(0, 1, (cfg.rows, cfg.hours))
    tide = np.sin(np.arange(cfg.hours) / 12.4 * 2 * np.pi + rng.uniform(0, 6.3, (cfg.rows, 1)))
    load = 0.8 * height[:, -4:].mean(axis=1) + 0.7 * tide[:, -1] + 0.3 * wind[:, -3:].sum(axis=1)
    target = load + rng.normal(0, 0.1, cfg.rows)
    x = np.stack([(height - 1.8) / 1.2, wind, tide], axis=-1)
    target = (target - target.mean()) / target.std()
    return x.astype("float32"), target.astype("float32")[:, None]


class WallTrainer:
    def __init__(self, cfg: RunConfig) -> None:
        self.cfg = cfg
        self.strategy = tf.distribute.OneDeviceStrategy("/cpu:0")
        self.global_batch = cfg.per_replica_batch * self.strategy.num_replicas_in_sync
        with self.strategy.scope():
            self.model = self._build()
            self.optimizer = keras.optimizers.RMSprop(cfg.learning_rate, clipnorm=1.0)
            self.loss_fn = keras.losses.MeanSquaredError(reduction=keras.losses.Reduction.NONE)
            self.valid_error = keras.metrics.MeanAbsoluteError()

    def _build(self) -> keras.Model:
        inputs = keras.Input((self.cfg.hours, 3))
        x = layers.GRU(32)(inputs)
        return keras.Model(inputs, layers.Dense(1)(x))

    def _step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            rows = self.loss_fn(y, self.model(x, training=True))
            loss = tf.reduce_sum(rows) / self.global_batch
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    @tf.function
    def _distributed_step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        losses = self.strategy.run(self._step, args=(x, y))
        return self.strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    def fit(self, train: tf.data.Dataset, valid: tf.data.Dataset) -> None:
        train = self.strategy.experimental_distribute_dataset(train)
        for epoch in range(self.cfg.epochs):
            total, steps = 0.0, 0
            for x, y in train:
                total += self._distributed_step(x, y)
                steps += 1
            self.valid_error.reset_state()
            for x, y in valid:
                self.valid_error.update_state(y, self.model(x, training=False))
            print(f"epoch {epoch + 1}: train mse {float(total) / steps:.4f}  valid mae {float(self.valid_error.result()):.4f}")


def main() -> None:
    cfg = RunConfig()
    keras.utils.set_random_seed(cfg.seed)
    x, y = make_records(cfg)
    cut = int(0.85 * len(x))
    trainer = WallTrainer(cfg)
    train = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(cut).batch(trainer.global_batch, drop_remainder=True)
    valid = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:])).batch(128)
    trainer.fit(train, valid)
    print(f"mae of the mean {np.abs(y[cut:] - y[:cut].mean()).mean():.4f}")


if __name__ == "__main__":
    main()
