"""Matrix factorisation for film ratings, own training loop with annealed noise and rate."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import time
import numpy as np
import tensorflow as tf
import keras

N_USERS, N_FILMS, RANK = 300, 200, 6
TOTAL_STEPS, BATCH = 160, 512


def make_ratings(seed=8):
    rng = np.random.default_rng(seed)
    u = rng.normal(0, 0.6, (N_USERS, 3))
    f = rng.normal(0, 0.9, (N_FILMS, 3))
    bu, bf = rng.normal(0, 0.3, N_USERS), rng.normal(0, 0.5, N_FILMS)
    users = rng.integers(0, N_USERS, 24000)
    films = rng.integers(0, N_FILMS, 24000)
    r = 3.3 + bu[users] + bf[films] + (u[users] * f[films]).sum(1) + rng.normal(0, 0.3, 24000)
    return users.astype("int32"), films.astype("int32"), np.clip(r, 1, 5).astype("float32")


class Factors(keras.Model):
    def __init__(self):
        super().__init__()
        self.user = keras.layers.Embedding(N_USERS, RANK, embeddings_initializer="normal")
        self.film = keras.layers.Embedding(N_FILMS, RANK, embeddings_initializer="normal")
        self.user_bias = keras.layers.Embedding(N_USERS, 1, embeddings_initializer="zeros")
        self.film_bias = keras.layers.Embedding(N_FILMS, 1, embeddings_initializer="zeros")

    def call(self, inputs, noise=0.0):
        u, f = inputs
        eu, ef = self.user(u), self.film(f)
        eu = eu + noise * tf.random.normal(tf.shape(eu))
        dot = tf.reduce_sum(eu * ef, -1)
        return 3.3 + dot + self.user_bias(u)[:, 0] + self.film_bias(f)[:, 0]


keras.utils.set_random_seed(8)
users, films, ratings = make_ratings()
cut = 20000
model = Factors()
opt = keras.optimizers.Adam(0.02)


@tf.function
def train_step(u, f, r, step):
    noise = 0.1 * (1.0 - step / TOTAL_STEPS)
    with tf.GradientTape() as tape:
        pred = model((u, f), noise=noise)
        loss = tf.reduce_mean(tf.square(pred - r))
        loss += 1e-3 * tf.reduce_mean(tf.square(model.user(u)) + tf.square(model.film(f)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def test_rmse():
    p = model((tf.constant(users[cut:]), tf.constant(films[cut:])))
    return float(tf.sqrt(tf.reduce_mean(tf.square(p - ratings[cut:]))))


ds = tf.data.Dataset.from_tensor_slices((users[:cut], films[:cut], ratings[:cut]))
ds = ds.shuffle(cut, seed=8).repeat().batch(BATCH, drop_remainder=True)

start = time.time()
for step, (u, f, r) in enumerate(ds.take(TOTAL_STEPS)):
    loss = train_step(u, f, r, step)
    if step % 20 == 0:
        print(f"step {step:4d} loss {float(loss):.4f} rmse {test_rmse():.4f} {time.time() - start:.1f}s")
print(f"final rmse {test_rmse():.4f}, {TOTAL_STEPS / (time.time() - start):.1f} steps/s")
