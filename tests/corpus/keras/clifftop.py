"""Seabird colony counts: species from colour histograms, with a classifier that returns log-probabilities."""
from typing import Tuple

import numpy as np
import tensorflow as tf
from tensorflow import keras

SPECIES = ("guillemot", "razorbill", "puffin", "kittiwake", "fulmar", "shag")


def histograms(n: int, seed: int) -> Tuple[np.ndarray, np.ndarray]:
    profile_rng = np.random.default_rng(100)
    profiles = profile_rng.dirichlet(np.full(24, 0.7), len(SPECIES))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(SPECIES), n)
    background = rng.dirichlet(np.ones(24), n)
    share = rng.uniform(0.3, 0.8, (n, 1))
    p = share * profiles[y] + (1 - share) * background
    counts = np.stack([rng.multinomial(300, row) for row in p])
    return np.sqrt(counts / 300.0).astype("float32"), y.astype("int64")


@keras.utils.register_keras_serializable("colony")
class TemperedLogSoftmax(keras.layers.Layer):
    """Normalised log-probabilities, with a learned temperature."""

    def build(self, input_shape):
        self.log_t = self.add_weight(name="log_t", shape=(), initializer="zeros")

    def call(self, inputs):
        return tf.nn.log_softmax(inputs * tf.exp(-self.log_t), axis=-1)


class ColonyClassifier(keras.Model):
    def __init__(self, hidden: int, n_classes: int, **kwargs):
        super().__init__(**kwargs)
        self.norm = keras.layers.Normalization()
        self.hidden = keras.layers.Dense(hidden, activation="gelu")
        self.drop = keras.layers.Dropout(0.2)
        self.score = keras.layers.Dense(n_classes)
        self.log_prob = TemperedLogSoftmax()

    def call(self, x, training=False):
        h = self.drop(self.hidden(self.norm(x)), training=training)
        return self.log_prob(self.score(h))


def bits_per_bird(log_p: np.ndarray, y: np.ndarray) -> float:
    return float(-log_p[np.arange(len(y)), y].mean() / np.log(2))


def main() -> None:
    keras.utils.set_random_seed(2)
    x, y = histograms(2400, seed=1)
    x_test, y_test = histograms(600, seed=2)

    model = ColonyClassifier(64, len(SPECIES))
    model.norm.adapt(x)
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    checkpoint = keras.callbacks.EarlyStopping(
        monitor="val_accuracy", mode="max", patience=4, restore_best_weights=True
    )
    model.fit(x, y, validation_split=0.2, epochs=15, batch_size=64, callbacks=[checkpoint], verbose=2)

    log_p = model.predict(x_test, verbose=0)
    assert np.allclose(np.exp(log_p).sum(1), 1.0, atol=1e-4)
    print(f"test accuracy {np.mean(log_p.argmax(1) == y_test):.3f}")
    print(f"code length {bits_per_bird(log_p, y_test):.3f} bits (uniform {np.log2(len(SPECIES)):.3f})")


if __name__ == "__main__":
    main()
