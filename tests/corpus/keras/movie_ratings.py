import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers, regularizers


def make_ratings(n_users, n_items, n_obs, rank, seed):
    rng = np.random.default_rng(seed)
    pu = rng.normal(0, 1, (n_users, rank))
    qi = rng.normal(0, 1, (n_items, rank))
    bu, bi = rng.normal(0, 0.4, n_users), rng.normal(0, 0.5, n_items)
    popularity = 1.0 / np.arange(1, n_items + 1) ** 0.4
    u = rng.integers(0, n_users, n_obs)
    i = rng.choice(n_items, n_obs, p=popularity / popularity.sum())
    r = 3.4 + bu[u] + bi[i] + 0.5 * (pu[u] * qi[i]).sum(1) + rng.normal(0, 0.25, n_obs)
    return u.astype("int32"), i.astype("int32"), np.clip(r, 0.5, 5.5).astype("float32")


class MatrixFactorisation(keras.Model):
    def __init__(self, n_users, n_items, dim, l2, mean):
        super().__init__()
        reg = regularizers.L2(l2)
        self.user = layers.Embedding(n_users, dim, embeddings_regularizer=reg,
                                     embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
        self.item = layers.Embedding(n_items, dim, embeddings_regularizer=reg,
                                     embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
        self.user_bias = layers.Embedding(n_users, 1, embeddings_initializer="zeros")
        self.item_bias = layers.Embedding(n_items, 1, embeddings_initializer="zeros")
        self.mean = mean

    def call(self, inputs):
        u, i = inputs["user"], inputs["item"]
        dot = keras.ops.sum(self.user(u) * self.item(i), axis=-1)
        return self.mean + dot + self.user_bias(u)[:, 0] + self.item_bias(i)[:, 0]


def pipeline(u, i, r, batch, train):
    ds = tf.data.Dataset.from_tensor_slices(({"user": u, "item": i}, r))
    if train:
        ds = ds.shuffle(len(r), seed=1)
    return ds.batch(batch).prefetch(2)


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--users", type=int, default=300)
    ap.add_argument("--items", type=int, default=200)
    ap.add_argument("--ratings", type=int, default=24000)
    ap.add_argument("--dim", type=int, default=6)
    ap.add_argument("--epochs", type=int, default=16)
    ap.add_argument("--batch", type=int, default=256)
    ap.add_argument("--lr", type=float, default=2e-2)
    ap.add_argument("--halve-every", type=int, default=4, help="epochs")
    return ap.parse_args()


def main():
    args = parse()
    keras.utils.set_random_seed(5)
    u, i, r = make_ratings(args.users, args.items, args.ratings, rank=4, seed=5)
    n_test = args.ratings // 6
    tr, te = slice(n_test, None), slice(0, n_test)
    train_ds = pipeline(u[tr], i[tr], r[tr], args.batch, True)
    test_ds = pipeline(u[te], i[te], r[te], args.batch, False)

    steps_per_epoch = len(train_ds)
    schedule = keras.optimizers.schedules.ExponentialDecay(
        initial_learning_rate=args.lr,
        decay_steps=args.halve_every,
        decay_rate=0.5,
        staircase=True,
    )
    model = MatrixFactorisation(args.users, args.items, args.dim, 1e-6, float(r[tr].mean()))
    model.compile(
        optimizer=keras.optimizers.Adam(schedule),
        loss="mse",
        metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
    )
    print(f"{steps_per_epoch} steps per epoch")
    model.fit(train_ds, epochs=args.epochs, validation_data=test_ds, verbose=2)

    rmse = model.evaluate(test_ds, verbose=0, return_dict=True)["rmse"]
    base = float(np.sqrt(np.mean((r[te] - r[tr].mean()) ** 2)))
    print(f"held-out rmse {rmse:.3f}   predict-the-mean rmse {base:.3f}")


if __name__ == "__main__":
    main()
