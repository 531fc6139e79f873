"""Biased matrix factorisation for star ratings, with a hand-written loop."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

USERS, MOVIES, RANK = 400, 250, 6
EPOCHS, BATCH = 20, 256


def ratings(seed=0, n=24000):
    rng = np.random.default_rng(seed)
    u_fac = rng.normal(0, 0.6, (USERS, 3))
    m_fac = rng.normal(0, 0.6, (MOVIES, 3))
    u_bias, m_bias = rng.normal(0, 0.4, USERS), rng.normal(0, 0.5, MOVIES)
    u, m = rng.integers(USERS, size=n), rng.integers(MOVIES, size=n)
    stars = 3.3 + u_bias[u] + m_bias[m] + (u_fac[u] * m_fac[m]).sum(1) + rng.normal(0, 0.3, n)
    return u.astype("int32"), m.astype("int32"), np.clip(stars, 1, 5).astype("float32")


def batches(u, m, stars, rng):
    order = rng.permutation(len(u))
    for start in range(0, len(order), BATCH):
        pick = order[start:start + BATCH]
        yield u[pick], m[pick], stars[pick]


class Factors(keras.Model):
    def __init__(self, mean):
        super().__init__()
        reg = keras.regularizers.L2(2e-6)
        self.mean = float(mean)
        self.user = layers.Embedding(USERS, RANK, embeddings_regularizer=reg)
        self.movie = layers.Embedding(MOVIES, RANK, embeddings_regularizer=reg)
        self.user_bias = layers.Embedding(USERS, 1, embeddings_initializer="zeros")
        self.movie_bias = layers.Embedding(MOVIES, 1, embeddings_initializer="zeros")

    def call(self, u, m):
        dot = tf.reduce_sum(self.user(u) * self.movie(m), axis=-1)
        return self.mean + dot + self.user_bias(u)[:, 0] + self.movie_bias(m)[:, 0]


def rmse(model, u, m, stars):
    return float(np.sqrt(np.mean((model(u, m).numpy() - stars) ** 2)))


def main():
    keras.utils.set_random_seed(13)
    rng = np.random.default_rng(13)
    data = ratings()
    train = [a[:20000] for a in data]
    valid = [a[20000:22000] for a in data]
    test = [a[22000:] for a in data]

    model = Factors(train[2].mean())
    model(train[0][:2], train[1][:2])
    optimizer = keras.optimizers.Adam(4e-3)
    optimizer.build(model.trainable_variables)

    @tf.function(reduce_retracing=True)
    def step(u, m, stars):
        with tf.GradientTape() as tape:
            error = tf.reduce_mean(tf.square(model(u, m) - stars))
            total = error + tf.add_n(model.losses)
        grads = tape.gradient(total, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return error

    loader = batches(*train, rng)
    for epoch in range(EPOCHS):
        for u, m, stars in loader:
            step(tf.constant(u), tf.constant(m), tf.constant(stars))
        if epoch % 4 == 0:
            print(f"epoch {epoch:2d}  valid rmse {rmse(model, *valid):.4f}")

    flat = np.sqrt(np.mean((test[2] - train[2].mean()) ** 2))
    print(f"test rmse {rmse(model, *test):.4f}   global mean {flat:.4f}")


if __name__ == "__main__":
    main()
