"""Two-tower retrieval: match a cook's recent recipes with the next one.

In-batch negatives, popularity (log-Q) correction, unit-length vectors and a learned
temperature.  The label of row i is column i of the score matrix.
"""
import argparse

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

RECIPES, TASTES, HIST = 400, 10, 8


def simulate(n_cooks, rng):
    taste_of = rng.integers(0, TASTES, RECIPES)
    pop = rng.zipf(1.6, RECIPES).clip(1, 40).astype(float)
    hist, nxt = [], []
    for _ in range(n_cooks):
        mix = rng.dirichlet(np.full(TASTES, .15))
        p = mix[taste_of] * pop
        p = .95 * p / p.sum() + .05 / RECIPES
        picks = rng.choice(RECIPES, HIST + 1, replace=False, p=p)
        hist.append(picks[:-1])
        nxt.append(picks[-1])
    return np.array(hist, "int32"), np.array(nxt, "int32")


class UnitLength(layers.Layer):
    def call(self, x):
        return tf.math.l2_normalize(x, axis=-1)


class TwoTower(keras.Model):
    def __init__(self, log_q, dim=24):
        super().__init__()
        self.log_q = tf.constant(log_q, tf.float32)
        self.items = layers.Embedding(RECIPES, dim)
        self.user = keras.Sequential([layers.Dense(48, activation="relu"), layers.Dense(dim), UnitLength()])
        self.item = keras.Sequential([layers.Dense(dim), UnitLength()])
        self.log_scale = self.add_weight(name="log_scale", shape=(),
                                         initializer=keras.initializers.Constant(np.log(8.0)))

    def encode_user(self, hist):
        return self.user(tf.reduce_mean(self.items(hist), axis=1))

    def encode_item(self, ids):
        return self.item(self.items(ids))

    def call(self, inputs):
        hist, ids = inputs["history"], inputs["candidate"]
        u, v = self.encode_user(hist), self.encode_item(ids)
        scores = tf.exp(self.log_scale) * tf.matmul(u, v, transpose_b=True)
        scores -= tf.gather(self.log_q, ids)[None, :]
        same = tf.equal(ids[:, None], ids[None, :]) & ~tf.eye(tf.shape(ids)[0], dtype=tf.bool)
        return tf.where(same, -1e9, scores)


def diagonal_loss(_, scores):
    rows = tf.range(tf.shape(scores)[0])
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=rows, logits=scores)


def hit_rate(scores, hist, nxt, k=20):
    scores = scores.copy()
    np.put_along_axis(scores, hist, -np.inf, axis=1)
    top = np.argpartition(-scores, k, axis=1)[:, :k]
    return float(np.mean((top == nxt[:, None]).any(1)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=0.3)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--epochs", type=int, default=14)
    args = ap.parse_args()
    keras.utils.set_random_seed(77)
    rng = np.random.default_rng(77)
    hist, nxt = simulate(6000, rng)
    cut = 5000
    counts = np.bincount(nxt[:cut], minlength=RECIPES) + 1.0
    log_q = np.log(counts / counts.sum())

    model = TwoTower(log_q)
    model.compile(keras.optimizers.Adagrad(args.lr, initial_accumulator_value=.1), loss=diagonal_loss)
    ds = tf.data.Dataset.from_tensor_slices(({"history": hist[:cut], "candidate": nxt[:cut]},
                                             np.zeros(cut, "float32")))
    ds = ds.shuffle(cut, seed=3).batch(args.batch, drop_remainder=True)
    model.fit(ds, epochs=args.epochs, verbose=2)

    u = model.encode_user(tf.constant(hist[cut:])).numpy()
    v = model.encode_item(tf.range(RECIPES)).numpy()
    ours = hit_rate(u @ v.T * np.exp(float(model.log_scale.numpy())), hist[cut:], nxt[cut:])
    popular = hit_rate(np.tile(log_q, (len(u), 1)), hist[cut:], nxt[cut:])
    print(f"scale {np.exp(float(model.log_scale.numpy())):.2f}")
    print(f"hit rate @20 on new cooks {ours:.3f}   most popular {popular:.3f}   "
          f"random {20 / RECIPES:.3f}")


if __name__ == "__main__":
    main()
