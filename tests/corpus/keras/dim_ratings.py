import argparse
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import keras
from keras import layers


@dataclass
class Tables:
    users: layers.Embedding
    items: layers.Embedding

    @classmethod
    def create(cls, n_users, n_items, dim):
        init = keras.initializers.RandomNormal(stddev=0.3)
        return cls(
            users=layers.Embedding(n_users, dim, embeddings_initializer=init),
            items=layers.Embedding(n_items, dim, embeddings_initializer=init),
        )

    def pair(self, batch):
        return self.users(batch["user"]), self.items(batch["item"])


class Recommender(keras.Model):
    def __init__(self, n_users, n_items, dim, mean_rating):
        super().__init__()
        self.tables = Tables.create(n_users, n_items, dim)
        self.mean_rating = mean_rating
        self.mix = layers.Dense(32, activation="relu")
        self.drop = layers.Dropout(0.1)
        self.out = layers.Dense(1)

    def call(self, batch, training=False):
        u, v = self.tables.pair(batch)
        dot = tf.reduce_sum(u * v, axis=-1, keepdims=True)
        h = self.mix(tf.concat([u, v], axis=-1))
        h = self.drop(h, training=training)
        return self.mean_rating + dot + self.out(h)


def synth_ratings(n_users, n_items, n, seed=0):
    rng = np.random.default_rng(seed)
    pu = rng.normal(size=(n_users, 3))
    qi = rng.normal(size=(n_items, 3))
    bi = rng.normal(scale=0.4, size=n_items)
    u = rng.integers(0, n_users, n)
    i = rng.integers(0, n_items, n)
    r = 3.2 + bi[i] + 0.5 * (pu[u] * qi[i]).sum(1) + rng.normal(scale=0.25, size=n)
    return u.astype("int32"), i.astype("int32"), r.astype("float32")


def to_dataset(u, i, r, batch_size, training):
    ds = tf.data.Dataset.from_tensor_slices(({"user": u, "item": i}, r[:, None]))
    if training:
        ds = ds.shuffle(20000, seed=1)
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--users", type=int, default=300)
    ap.add_argument("--items", type=int, default=200)
    ap.add_argument("--dim", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()

    keras.utils.set_random_seed(3)
    u, i, r = synth_ratings(args.users, args.items, 24000)
    cut = 20000
    train = to_dataset(u[:cut], i[:cut], r[:cut], 128, True)
    test = to_dataset(u[cut:], i[cut:], r[cut:], 512, False)

    model = Recommender(args.users, args.items, args.dim, float(r[:cut].mean()))
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr),
        loss="mse",
        metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
    )
    model.fit(train, validation_data=test, epochs=args.epochs, verbose=2)
    scores = model.evaluate(test, return_dict=True, verbose=0)
    print("test rmse %.3f  (std of ratings %.3f)" % (scores["rmse"], r[cut:].std()))


if __name__ == "__main__":
    main()
