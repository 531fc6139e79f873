"""Rating prediction with a factorisation machine (Keras functional model)."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

N_USERS, N_ITEMS, N_DAYS = 150, 90, 7
RANK = 6
os.makedirs("out", exist_ok=True)


def make_ratings(n=14000, seed=4):
    rng = np.random.default_rng(seed)
    u = rng.integers(0, N_USERS, n)
    i = rng.integers(0, N_ITEMS, n)
    d = rng.integers(0, N_DAYS, n)
    taste = rng.normal(0, 1, (N_USERS, 3))
    genre = rng.normal(0, 1, (N_ITEMS, 3))
    bu, bi = rng.normal(0, 0.4, N_USERS), rng.normal(0, 0.5, N_ITEMS)
    score = 3.2 + bu[u] + bi[i] + 0.6 * (taste[u] * genre[i]).sum(1) + 0.1 * (d >= 5)
    score = np.clip(score + rng.normal(0, 0.3, n), 0.5, 6.0)
    fields = np.stack([u, N_USERS + i, N_USERS + N_ITEMS + d], axis=1)
    return fields.astype("int32"), score.astype("float32")


class PairwiseFactors(layers.Layer):
    """Second-order term: 0.5 * ((sum v)^2 - sum v^2)."""

    def __init__(self, n_features, rank, stddev=0.1, **kwargs):
        super().__init__(**kwargs)
        self.n_features = n_features
        self.rank = rank
        self.stddev = stddev

    def build(self, input_shape):
        self.factors = tf.Variable(
            tf.random.normal((self.n_features, self.rank), stddev=self.stddev),
            trainable=True,
            name="factors",
        )

    def call(self, ids):
        v = tf.gather(self.factors, ids)
        square_of_sum = tf.square(tf.reduce_sum(v, axis=1))
        sum_of_square = tf.reduce_sum(tf.square(v), axis=1)
        return 0.5 * tf.reduce_sum(square_of_sum - sum_of_square, axis=1, keepdims=True)

    def get_config(self):
        cfg = super().get_config()
        cfg.update(n_features=self.n_features, rank=self.rank, stddev=self.stddev)
        return cfg


class Offset(layers.Layer):
    def build(self, input_shape):
        self.value = self.add_weight(name="value", shape=(1,), initializer="zeros")

    def call(self, x):
        return x + self.value


def factorisation_machine(n_features, rank):
    ids = keras.Input((3,), dtype="int32", name="fields")
    linear = layers.Embedding(n_features, 1, embeddings_initializer="zeros")(ids)
    linear = layers.Lambda(lambda t: tf.reduce_sum(t, axis=1), output_shape=(1,))(linear)
    pairs = PairwiseFactors(n_features, rank, name="pairs")(ids)
    out = Offset(name="offset")(layers.Add()([linear, pairs]))
    return keras.Model(ids, out, name="fm")


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


def main():
    keras.utils.set_random_seed(4)
    x, y = make_ratings()
    order = np.random.default_rng(0).permutation(len(x))
    tr, va, te = np.split(order, [10000, 11500])
    mean = y[tr].mean()

    model = factorisation_machine(N_USERS + N_ITEMS + N_DAYS, RANK)
    model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    stop = keras.callbacks.EarlyStopping(
        monitor="val_loss", patience=4, restore_best_weights=True, verbose=1
    )
    hist = model.fit(
        x[tr], y[tr] - mean,
        validation_data=(x[va], y[va] - mean),
        batch_size=128, epochs=30, callbacks=[stop], verbose=0,
    ).history
    for e in range(0, len(hist["loss"]), 4):
        print(f"epoch {e:2d} mse {hist['loss'][e]:.3f} val {hist['val_loss'][e]:.3f}")

    pred = model.predict(x[te], verbose=0)[:, 0] + mean
    print(f"test RMSE {rmse(pred, y[te]):.3f}  (global mean {rmse(mean, y[te]):.3f})")

    # user + item means, as the site shows them today
    um = np.array([(y[tr] - mean)[x[tr][:, 0] == k].mean() for k in range(N_USERS)])
    im = np.array([(y[tr] - mean)[x[tr][:, 1] == N_USERS + k].mean() for k in range(N_ITEMS)])
    base = mean + um[x[te][:, 0]] + im[x[te][:, 1] - N_USERS]
    print(f"user mean + item mean: {rmse(base, y[te]):.3f}")
    np.savez("out/fm_test.npz", pred=pred, target=y[te])


if __name__ == "__main__":
    main()
