import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy as np
import tensorflow as tf
import keras

N_USERS, N_FILMS, RANK = 300, 200, 6


def ratings(n, seed=0):
    rng = np.random.default_rng(seed)
    pu = rng.normal(0, 0.7, (N_USERS, RANK))
    qf = rng.normal(0, 0.7, (N_FILMS, RANK))
    bu, bf = rng.normal(0, 0.4, N_USERS), rng.normal(0, 0.6, N_FILMS)
    u = rng.integers(0, N_USERS, n)
    f = rng.integers(0, N_FILMS, n)
    r = 3.4 + bu[u] + bf[f] + (pu[u] * qf[f]).sum(1) + rng.normal(0, 0.25, n)
    return u.astype("int32"), f.astype("int32"), r.astype("float32")


class Recommender(keras.Model):
    def __init__(self, dim=12):
        super().__init__()
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.user = keras.layers.Embedding(N_USERS, dim, embeddings_initializer=init)
        self.film = keras.layers.Embedding(N_FILMS, dim, embeddings_initializer=init)
        self.user_bias = keras.layers.Embedding(N_USERS, 1, embeddings_initializer="zeros")
        self.film_bias = keras.layers.Embedding(N_FILMS, 1, embeddings_initializer="zeros")
        self.base = self.add_weight(shape=(), initializer=keras.initializers.Constant(3.0), name="base")

    def call(self, inputs):
        u, f = inputs
        match = tf.reduce_sum(self.user(u) * self.film(f), axis=-1, keepdims=True)
        return match + self.user_bias(u) + self.film_bias(f) + self.base


keras.utils.set_random_seed(8)
u, f, r = ratings(24000)
n_tr = 20000
train_ds = (tf.data.Dataset.from_tensor_slices((u[:n_tr], f[:n_tr], r[:n_tr]))
            .shuffle(n_tr, seed=8).batch(128))
test_ds = tf.data.Dataset.from_tensor_slices((u[n_tr:], f[n_tr:], r[n_tr:])).batch(500)

net = Recommender()
optim = keras.optimizers.Adam(5e-3)


@tf.function
def train_step(users, films, rating):
    with tf.GradientTape() as tape:
        pred = net((users, films))
        mse = tf.reduce_mean(tf.square(pred - rating))
        reg = 1e-5 * sum(tf.nn.l2_loss(v) for v in net.trainable_variables[:2])
        loss = mse + reg
    grads = tape.gradient(loss, net.trainable_variables)
    optim.apply_gradients(zip(grads, net.trainable_variables))
    return mse


def test_rmse():
    err = []
    for users, films, rating in test_ds:
        p = net((users, films)).numpy().ravel()
        err.append((p - rating.numpy()) ** 2)
    return float(np.sqrt(np.concatenate(err).mean()))


print(f"std of ratings {r.std():.3f}")
for epoch in range(15):
    running = keras.metrics.Mean()
    for batch in train_ds:
        running.update_state(train_step(*batch))
    if epoch % 2 == 0:
        print(f"epoch {epoch:2d}  train mse {float(running.result()):.4f}  test rmse {test_rmse():.4f}")
print("final test rmse", round(test_rmse(), 4))
