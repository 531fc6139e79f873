from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Config:
    members: int = 200
    films: int = 150
    factors: int = 8
    ratings: int = 12000
    batch: int = 128
    epochs: int = 12
    lr: float = 5e-3
    seed: int = 21


class ClubModel(keras.Model):
    def __init__(self, cfg, mean):
        super().__init__()
        self.cfg = cfg
        self.mean = mean
        self.member_bias = layers.Embedding(cfg.members, 1, embeddings_initializer="zeros")
        self.film_bias = layers.Embedding(cfg.films, 1, embeddings_initializer="zeros")
        self.factors = tf.Variable(tf.random.normal([cfg.members + cfg.films, cfg.factors], stddev=0.1))

    def call(self, inputs):
        member, film = inputs[:, 0], inputs[:, 1]
        p = tf.gather(self.factors, member)
        q = tf.gather(self.factors, film + self.cfg.members)
        bias = self.member_bias(member)[:, 0] + self.film_bias(film)[:, 0]
        return self.mean + bias + tf.reduce_sum(p * q, axis=1)


def club_ratings(cfg):
    rng = np.random.default_rng(cfg.seed)
    taste = rng.normal(0, 1, (cfg.members, 3))
    style = rng.normal(0, 1, (cfg.films, 3))
    generous = rng.normal(0, 0.3, cfg.members)
    quality = rng.normal(0, 0.3, cfg.films)
    m = rng.integers(0, cfg.members, cfg.ratings)
    f = rng.integers(0, cfg.films, cfg.ratings)
    r = 5.5 + generous[m] + quality[f] + (taste[m] * style[f]).sum(1) + rng.normal(0, 0.2, cfg.ratings)
    return np.stack([m, f], 1).astype("int32"), r.astype("float32")


def main(cfg=Config()):
    keras.utils.set_random_seed(cfg.seed)
    x, r = club_ratings(cfg)
    cut = int(0.85 * len(x))
    model = ClubModel(cfg, float(r[:cut].mean()))
    model.compile(
        optimizer=keras.optimizers.Adam(cfg.lr),
        loss="mse",
        metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
    )
    model.fit(x[:cut], r[:cut], validation_data=(x[cut:], r[cut:]),
              batch_size=cfg.batch, epochs=cfg.epochs, verbose=2)
    print("std of held-out ratings:", round(float(r[cut:].std()), 3))


if __name__ == "__main__":
    main()
