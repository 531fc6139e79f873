"""Probabilistic dew-point regression: a network that returns a mean and a variance (Gaussian NLL)."""
from __future__ import annotations

import math
from typing import Dict, List, Tuple

import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 5


def synthesize(n: int, seed: int) -> Tuple[np.ndarray, np.ndarray]:
    """Temperature, relative humidity, wind, pressure -> dew point with input-dependent noise."""
    rng = np.random.default_rng(seed)
    temp = rng.uniform(-5, 35, n)
    hum = rng.uniform(20, 100, n)
    wind = rng.gamma(2.0, 2.0, n)
    pressure = rng.normal(1013, 8, n)
    gamma = np.log(hum / 100) + 17.6 * temp / (243.1 + temp)
    dew = 243.1 * gamma / (17.6 - gamma)
    dew = dew + rng.normal(0, 0.3 + 0.15 * wind)
    features = np.stack([temp, hum, wind, pressure], axis=1)
    return features.astype("float32"), dew.astype("float32")


class Standardizer:
    def fit(self, a: np.ndarray) -> "Standardizer":
        self.mean, self.std = a.mean(axis=0), a.std(axis=0) + 1e-6
        return self

    def transform(self, a: np.ndarray) -> np.ndarray:
        return (a - self.mean) / self.std


def make_dataset(x: np.ndarray, y: np.ndarray, batch_size: int, training: bool) -> tf.data.Dataset:
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(len(x), seed=SEED, reshuffle_each_iteration=True)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def build_network(n_features: int) -> keras.Model:
    inputs = keras.Input((n_features,))
    h = keras.layers.Dense(64, activation="swish")(inputs)
    h = keras.layers.Dense(64, activation="swish")(h)
    mean = keras.layers.Dense(1, name="mean")(h)
    log_var = keras.layers.Dense(1, name="log_var")(h)
    return keras.Model(inputs, [mean, log_var])


def gaussian_nll(target: tf.Tensor, mean: tf.Tensor, log_var: tf.Tensor) -> tf.Tensor:
    log_var = tf.clip_by_value(log_var, -8.0, 8.0)
    squared = tf.square(target - mean)
    return 0.5 * tf.reduce_mean(log_var + squared * tf.exp(-log_var) + math.log(2 * math.pi))


class ProbabilisticTrainer:
    """Minimal training loop with a schedule, clipping and early stopping."""

    def __init__(self, model: keras.Model, lr: float, max_norm: float = 5.0, patience: int = 5) -> None:
        self.model = model
        self.optimizer = keras.optimizers.Adam(lr)
        self.max_norm = max_norm
        self.patience = patience
        self.history: List[Dict[str, float]] = []

    @tf.function
    def train_step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            mean, log_var = self.model(x, training=True)
            loss = gaussian_nll(y, mean, log_var)
        variables = self.model.trainable_variables
        grads = tape.gradient(loss, variables)
        grads, _ = tf.clip_by_global_norm(grads, self.max_norm)
        self.optimizer.apply_gradients(zip(grads, variables))
        return loss

    def validate(self, x: np.ndarray, y: np.ndarray) -> Tuple[float, float]:
        mean, log_var = self.model(x, training=False)
        mean = mean.numpy().ravel()
        sd = np.exp(0.5 * log_var.numpy().ravel())
        rmse = float(np.sqrt(np.mean((mean - y) ** 2)))
        coverage = float(np.mean(np.abs(mean - y) < 1.645 * sd))
        return rmse, coverage

    def fit(self, ds: tf.data.Dataset, val: Tuple[np.ndarray, np.ndarray], epochs: int) -> None:
        best, waited = float("inf"), 0
        for epoch in range(1, epochs + 1):
            running = keras.metrics.Mean()
            for x, y in ds:
                running.update_state(self.train_step(x, y))
            rmse, coverage = self.validate(*val)
            self.history.append({"nll": float(running.result()), "rmse": rmse})
            print(f"epoch {epoch:2d}  nll {float(running.result()):.4f}  "
                  f"val rmse {rmse:.4f}  90% interval covers {coverage:.2f}")
            if rmse < best - 1e-4:
                best, waited = rmse, 0
                weights = self.model.get_weights()
            else:
                waited += 1
                if waited >= self.patience:
                    print("early stop")
                    break
        self.model.set_weights(weights)


def main() -> None:
    keras.utils.set_random_seed(SEED)
    x, y = synthesize(4000, SEED)
    xs, ys = Standardizer().fit(x[:3200]), Standardizer().fit(y[:3200])
    x_train, y_train = xs.transform(x[:3200]), ys.transform(y[:3200])
    x_val, y_val = xs.transform(x[3200:]), ys.transform(y[3200:])

    model = build_network(x.shape[1])
    trainer = ProbabilisticTrainer(model, lr=2e-3)
    trainer.fit(make_dataset(x_train, y_train, 64, training=True), (x_val, y_val), epochs=15)
    rmse, coverage = trainer.validate(x_val, y_val)
    print(f"best: rmse {rmse:.4f} (in standard deviations of the target), coverage {coverage:.2f}")


if __name__ == "__main__":
    main()
