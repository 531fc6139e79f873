"""Ripeness of cheeses in the cave: a small radial-basis network on humidity / ammonia / firmness / rind readings."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
from dataclasses import dataclass
import numpy as np
import tensorflow as tf
import keras


@dataclass
class Cfg:
    n: int = 2400
    units: int = 10
    gamma: float = 1.5
    epochs: int = 20
    lr: float = 0.02
    seed: int = 7


class RBFLayer(keras.layers.Layer):
    """phi_j(x) = exp(-gamma_j * ||x - c_j||^2), centres and widths are learnt."""

    def __init__(self, units, gamma, **kw):
        super().__init__(**kw)
        self.units, self.gamma0 = units, gamma

    def build(self, input_shape):
        self.centres = tf.Variable(tf.random.normal((self.units, input_shape[-1]), 0.0, 0.3), trainable=True, name="centres")
        self.log_gamma = tf.Variable(tf.fill((self.units,), float(np.log(self.gamma0))), trainable=True, name="log_gamma")

    def call(self, x):
        d2 = tf.reduce_sum(tf.square(x[:, None, :] - self.centres[None]), axis=-1)
        return tf.exp(-tf.exp(self.log_gamma) * d2)


def cave(cfg):
    rng = np.random.default_rng(cfg.seed)
    kinds = rng.normal(0, 1.6, (12, 4))
    k = rng.integers(0, 12, cfg.n)
    x = kinds[k] + rng.normal(0, 0.35, (cfg.n, 4))
    return x.astype("float32"), (k % 3).astype("int32")


def main():
    cfg = Cfg()
    keras.utils.set_random_seed(cfg.seed)
    x, y = cave(cfg)
    cut = int(0.8 * cfg.n)
    model = keras.Sequential([
        keras.Input((4,)),
        RBFLayer(cfg.units, cfg.gamma),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(optimizer=keras.optimizers.Adam(cfg.lr),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    h = model.fit(x[:cut], y[:cut], validation_data=(x[cut:], y[cut:]),
                  epochs=cfg.epochs, batch_size=32, verbose=0)
    for e in range(0, cfg.epochs, 5):
        print(e, {k: round(v[e], 3) for k, v in h.history.items()})
    print("final val accuracy", round(h.history["val_accuracy"][-1], 3))


if __name__ == "__main__":
    main()
