"""Rating prediction with a biased matrix factorisation, written as a Keras model."""
import argparse
import os

import keras
import numpy as np
import tensorflow as tf


def make_ratings(n_users, n_items, n_obs, rank=6, seed=3):
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n_users, rank)) / np.sqrt(rank)
    genre = rng.normal(size=(n_items, rank))
    harsh = 0.35 * rng.normal(size=n_users)
    quality = 0.4 * rng.normal(size=n_items)
    popularity = rng.pareto(2.0, size=n_items) + 0.4
    u = rng.integers(0, n_users, n_obs)
    i = rng.choice(n_items, n_obs, p=popularity / popularity.sum())
    raw = 3.4 + harsh[u] + quality[i] + (taste[u] * genre[i]).sum(1)
    stars = np.clip(np.round(2 * (raw + 0.25 * rng.normal(size=n_obs))) / 2, 0.5, 5.0)
    pairs, first = np.unique(u * n_items + i, return_index=True)
    return u[first].astype("int32"), i[first].astype("int32"), stars[first].astype("float32")


class FactorTable(keras.layers.Layer):
    """One dense vector per id."""

    def __init__(self, count, dim, scale=0.1, **kw):
        super().__init__(**kw)
        init = tf.random.normal([count, dim], stddev=scale)
        self.table = tf.Variable(init, name="table")

    def call(self, ids):
        return tf.gather(self.table, ids)


class Recommender(keras.Model):
    def __init__(self, n_users, n_items, dim, mean, reg):
        super().__init__()
        self.users = FactorTable(n_users, dim, name="users")
        self.items = FactorTable(n_items, dim, name="items")
        self.user_bias = keras.layers.Embedding(n_users, 1, embeddings_initializer="zeros")
        self.item_bias = keras.layers.Embedding(n_items, 1, embeddings_initializer="zeros")
        self.mean = mean
        self.reg = reg
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.rmse = keras.metrics.RootMeanSquaredError(name="rmse")

    def call(self, inputs):
        u, i = inputs["user"], inputs["item"]
        p, q = self.users(u), self.items(i)
        bias = self.user_bias(u)[..., 0] + self.item_bias(i)[..., 0]
        return self.mean + bias + tf.reduce_sum(p * q, axis=-1)

    @property
    def metrics(self):
        return [self.loss_tracker, self.rmse]

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            pred = self(x, training=True)
            penalty = tf.reduce_mean(tf.square(self.users(x["user"]))
                                     + tf.square(self.items(x["item"])))
            loss = tf.reduce_mean(tf.square(y - pred)) + self.reg * penalty
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.loss_tracker.update_state(loss)
        self.rmse.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}

    def test_step(self, data):
        x, y = data
        pred = self(x, training=False)
        self.loss_tracker.update_state(tf.reduce_mean(tf.square(y - pred)))
        self.rmse.update_state(y, pred)
        return {m.name: m.result() for m in self.metrics}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=14)
    ap.add_argument("--dim", type=int, default=8)
    ap.add_argument("--lr", type=float, default=5e-3)
    ap.add_argument("--reg", type=float, default=0.15)
    args = ap.parse_args()
    keras.utils.set_random_seed(11)
    os.makedirs("out", exist_ok=True)

    n_users, n_items = 500, 250
    u, i, r = make_ratings(n_users, n_items, 45000)
    order = np.random.default_rng(0).permutation(len(r))
    cut = int(0.85 * len(r))
    tr, te = order[:cut], order[cut:]
    print(f"{len(tr)} ratings for training, {len(te)} held out")

    model = Recommender(n_users, n_items, args.dim, float(r[tr].mean()), args.reg)
    model.compile(optimizer=keras.optimizers.Adam(args.lr))
    test = ({"user": u[te], "item": i[te]}, r[te])
    model.fit({"user": u[tr], "item": i[tr]}, r[tr], batch_size=256, epochs=args.epochs,
              validation_data=test, verbose=2,
              callbacks=[keras.callbacks.CSVLogger("out/movies.csv")])

    item_sum = np.bincount(i[tr], r[tr], n_items)
    item_cnt = np.bincount(i[tr], minlength=n_items)
    item_mean = (item_sum + 5 * r[tr].mean()) / (item_cnt + 5)
    base = np.sqrt(np.mean((item_mean[i[te]] - r[te]) ** 2))
    scores = model.evaluate(*test, batch_size=1024, verbose=0, return_dict=True)
    print(f"item-mean RMSE {base:.4f}   model RMSE {float(scores['rmse']):.4f}")


if __name__ == "__main__":
    main()
