"""VQ autoencoder for synthetic borehole logs: each log is a stack of eight layers drawn from a small set of rock signatures."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


@dataclass
class Config:
    seed: int = 3
    n_logs: int = 3000
    n_layers: int = 8
    layer_len: int = 12
    n_rocks: int = 12
    code_dim: int = 6
    n_codes: int = 32
    beta: float = 0.25
    lr: float = 2e-3
    batch: int = 64
    epochs: int = 12


def make_logs(cfg, rng):
    t = np.linspace(0, 1, cfg.layer_len)
    rocks = np.stack([
        rng.normal(0, 0.8) + rng.normal(0, 1.0) * np.sin(2 * np.pi * rng.integers(1, 5) * t + rng.uniform(0, 6.28))
        + rng.normal(0, 0.6) * np.cos(2 * np.pi * rng.integers(1, 5) * t)
        for _ in range(cfg.n_rocks)])
    which = rng.integers(0, cfg.n_rocks, (cfg.n_logs, cfg.n_layers))
    logs = rocks[which] + rng.normal(0, 0.1, (cfg.n_logs, cfg.n_layers, cfg.layer_len))
    return logs.astype("float32"), which


class Codebook(layers.Layer):
    def __init__(self, n_codes, dim, beta, **kw):
        super().__init__(**kw)
        self.n_codes, self.dim, self.beta = n_codes, dim, beta

    def build(self, shape):
        self.table = self.add_weight(name="table", shape=(self.n_codes, self.dim),
                                     initializer=keras.initializers.RandomUniform(-0.5, 0.5))

    def nearest(self, z):
        d = (tf.reduce_sum(z ** 2, -1, keepdims=True) + tf.reduce_sum(self.table ** 2, -1)
             - 2.0 * tf.einsum("bld,kd->blk", z, self.table))
        return tf.argmin(d, axis=-1)

    def call(self, z):
        q = tf.gather(self.table, self.nearest(z))
        self.add_loss(tf.reduce_mean((q - tf.stop_gradient(z)) ** 2))
        self.add_loss(self.beta * tf.reduce_mean((tf.stop_gradient(q) - z) ** 2))
        return tf.stop_gradient(z + (q - z))


class VQModel(keras.Model):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(48, activation="gelu"), layers.Dense(48, activation="gelu"),
                                         layers.Dense(cfg.code_dim)])
        self.codebook = Codebook(cfg.n_codes, cfg.code_dim, cfg.beta)
        self.decoder = keras.Sequential([layers.Dense(48, activation="gelu"), layers.Dense(48, activation="gelu"),
                                         layers.Dense(cfg.layer_len)])
        self.rec = keras.metrics.Mean(name="rec")

    def call(self, x):
        return self.decoder(self.codebook(self.encoder(x)))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            rec = tf.reduce_mean((self(x, training=True) - x) ** 2)
            loss = rec + tf.add_n(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.rec.update_state(rec)
        return {"rec": self.rec.result(), "loss": loss}


def main(cfg=Config()):
    keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    logs, which = make_logs(cfg, rng)
    train, test, which = logs[:-500], logs[-500:], which[-500:]
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(3000, seed=0).batch(cfg.batch, drop_remainder=True)
    model = VQModel(cfg)
    model.compile(optimizer=keras.optimizers.Adam(cfg.lr))
    hist = model.fit(ds, epochs=cfg.epochs, verbose=0).history
    out = model.predict(test, verbose=0)
    codes = model.codebook.nearest(model.encoder(test)).numpy()
    purity = sum(np.bincount(which[codes == c]).max() for c in np.unique(codes)) / codes.size
    print("train rec per epoch", [round(v, 3) for v in hist["rec"]])
    print(f"test mse {np.mean((out - test) ** 2):.4f}  codes used {len(np.unique(codes))}  purity {purity:.3f}")


if __name__ == "__main__":
    main()
