"""Rating prediction with biased matrix factorisation + small MLP (custom loop).

Large effective batches are simulated by accumulating gradients over ACC_STEPS
micro batches before the optimizer is called.
"""
import logging
import time

import numpy as np
import tensorflow as tf
import keras

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S",
                    handlers=[logging.StreamHandler(__import__("sys").stdout)])
log = logging.getLogger("recsys")

N_USERS, N_ITEMS, TRUE_RANK = 250, 180, 4
MICRO_BATCH, ACC_STEPS = 128, 4
EPOCHS = 12
EMB = 12


def synthetic_ratings(seed=0):
    rng = np.random.default_rng(seed)
    taste = rng.normal(0, 1, (N_USERS, TRUE_RANK))
    traits = rng.normal(0, 1, (N_ITEMS, TRUE_RANK))
    user_bias = rng.normal(0, 0.4, N_USERS)
    item_bias = rng.normal(0, 0.5, N_ITEMS)
    score = 3.4 + user_bias[:, None] + item_bias[None] + 0.35 * taste @ traits.T
    users, items = np.nonzero(rng.random((N_USERS, N_ITEMS)) < 0.4)
    r = score[users, items] + rng.normal(0, 0.3, len(users))
    r = np.clip(np.round(r * 2) / 2, 0.5, 5.0).astype("float32")
    perm = rng.permutation(len(r))
    return users[perm].astype("int32"), items[perm].astype("int32"), r[perm]


class Recommender(keras.Model):
    def __init__(self, mean):
        super().__init__()
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.user = keras.layers.Embedding(N_USERS, EMB, embeddings_initializer=init)
        self.item = keras.layers.Embedding(N_ITEMS, EMB, embeddings_initializer=init)
        self.user_bias = keras.layers.Embedding(N_USERS, 1, embeddings_initializer="zeros")
        self.item_bias = keras.layers.Embedding(N_ITEMS, 1, embeddings_initializer="zeros")
        self.hidden = keras.layers.Dense(16, activation="relu")
        self.out = keras.layers.Dense(1)
        self.mean = mean

    def call(self, inputs):
        u, i = inputs
        pu, qi = self.user(u), self.item(i)
        dot = tf.reduce_sum(pu * qi, axis=-1)
        deep = self.out(self.hidden(tf.concat([pu, qi], axis=-1)))[:, 0]
        return self.mean + dot + deep + self.user_bias(u)[:, 0] + self.item_bias(i)[:, 0]


users, items, ratings = synthetic_ratings()
n_test = len(ratings) // 10
test = users[:n_test], items[:n_test], ratings[:n_test]
valid = users[n_test:2 * n_test], items[n_test:2 * n_test], ratings[n_test:2 * n_test]
train = users[2 * n_test:], items[2 * n_test:], ratings[2 * n_test:]
log.info("train %d valid %d test %d ratings", *(len(s[2]) for s in (train, valid, test)))

keras.utils.set_random_seed(1)
model = Recommender(float(train[2].mean()))
model((train[0][:2], train[1][:2]))
optimizer = keras.optimizers.Adam(1e-2)
variables = model.trainable_variables


@tf.function
def micro_step(u, i, r):
    with tf.GradientTape() as tape:
        pred = model((u, i), training=True)
        loss = tf.reduce_mean(tf.square(pred - r))
        reg = 2e-3 * (tf.reduce_mean(tf.reduce_sum(model.user(u) ** 2, -1))
                      + tf.reduce_mean(tf.reduce_sum(model.item(i) ** 2, -1)))
        total = (loss + reg) / ACC_STEPS
    grads = tape.gradient(total, variables)
    return loss, [tf.convert_to_tensor(g) for g in grads]


def rmse(split):
    pred = model((split[0], split[1]), training=False).numpy()
    return float(np.sqrt(np.mean((pred - split[2]) ** 2)))


train_ds = (tf.data.Dataset.from_tensor_slices(train)
            .shuffle(len(train[2])).batch(MICRO_BATCH, drop_remainder=True))

accumulated = [tf.zeros_like(v) for v in variables]
for epoch in range(EPOCHS):
    start, losses = time.time(), []
    for step, (u, i, r) in enumerate(train_ds):
        loss, grads = micro_step(u, i, r)
        losses.append(float(loss))
        accumulated = [a + g for a, g in zip(accumulated, grads)]
        if (step + 1) % ACC_STEPS == 0:
            optimizer.apply_gradients(zip(accumulated, variables))
            accumulated = [tf.zeros_like(v) for v in variables]
    log.info("epoch %2d  train mse %.4f  valid rmse %.4f  (%.1fs)",
             epoch + 1, np.mean(losses), rmse(valid), time.time() - start)

baseline = float(np.sqrt(np.mean((test[2] - train[2].mean()) ** 2)))
log.info("test rmse %.4f, predicting the mean gives %.4f", rmse(test), baseline)
