import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(21)
rng = np.random.default_rng(21)

# ratings: 300 users x 200 films
n_users, n_items, rank = 300, 200, 4
P, Q = rng.normal(size=(n_users, rank)), rng.normal(size=(n_items, rank))
user_mean, item_mean = rng.normal(0, 0.4, n_users), rng.normal(0, 0.4, n_items)
pairs = np.array([(u, i) for u in range(n_users) for i in range(n_items)], dtype="int32")
rng.shuffle(pairs)
pairs = pairs[:24000]
u, i = pairs.T
ratings = 3 + user_mean[u] + item_mean[i] + 0.5 * (P[u] * Q[i]).sum(1) + rng.normal(0, 0.2, len(u))
ratings = ratings.astype("float32")
cut = 20000


class DotFactors(keras.layers.Layer):
    def __init__(self, n_users, n_items, dim, **kwargs):
        super().__init__(**kwargs)
        self.user_factors = tf.Variable(tf.random.normal((n_users, dim), stddev=0.1), name="user_factors")
        self.item_factors = tf.Variable(tf.random.normal((n_items, dim), stddev=0.1), name="item_factors")

    def call(self, users, items):
        p = tf.gather(self.user_factors, users)
        q = tf.gather(self.item_factors, items)
        return tf.reduce_sum(p * q, axis=-1, keepdims=True)


class Recommender(keras.Model):
    def __init__(self, n_users, n_items, dim=8):
        super().__init__()
        self.user_bias = keras.layers.Embedding(n_users, 1)
        self.item_bias = keras.layers.Embedding(n_items, 1)
        self.factors = DotFactors(n_users, n_items, dim)
        self.offset = keras.layers.Dense(1)

    def call(self, x):
        users, items = x[:, 0], x[:, 1]
        score = self.factors(users, items) + self.user_bias(users) + self.item_bias(items)
        return self.offset(score)


model = Recommender(n_users, n_items)
model.compile(
    optimizer=keras.optimizers.Adam(0.01),
    loss="mse",
    metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
)
model.fit(pairs[:cut], ratings[:cut], batch_size=256, epochs=15,
          validation_data=(pairs[cut:], ratings[cut:]), verbose=2)
print("std of the test ratings:", ratings[cut:].std().round(3))
print("test rmse:", round(model.evaluate(pairs[cut:], ratings[cut:], verbose=0)[1], 3))
