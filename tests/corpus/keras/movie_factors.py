# Matrix factorisation for film ratings, own training loop
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(17)

n_users, n_films, rank = 200, 120, 3
rng = np.random.default_rng(17)
taste = rng.normal(0, 1, (n_users, rank))
genre = rng.normal(0, 1, (n_films, rank))
uid = rng.integers(0, n_users, 12000)
fid = rng.integers(0, n_films, 12000)
stars = 3.2 + 0.6 * (taste[uid] * genre[fid]).sum(1) + rng.normal(0, 0.3, 12000)
stars = np.clip(stars, 0.5, 5.5).astype("float32")
cut = 10000


class FactorModel:
    def __init__(self, dim):
        self.users = layers.Embedding(n_users, dim, embeddings_initializer=tf.keras.initializers.RandomNormal(0, 0.1))
        self.films = layers.Embedding(n_films, dim, embeddings_initializer=tf.keras.initializers.RandomNormal(0, 0.1))
        self.user_bias = tf.Variable(tf.zeros([n_users]))
        self.film_bias = tf.Variable(tf.zeros([n_films]))
        self.mean = tf.Variable(0.0)

    def __call__(self, u, f):
        dot = tf.reduce_sum(self.users(u) * self.films(f), axis=-1)
        return dot + tf.gather(self.user_bias, u) + tf.gather(self.film_bias, f) + self.mean

    def parameters(self):
        return (
            self.users.trainable_variables
            + self.films.trainable_variables
            + [self.user_bias, self.film_bias, self.mean]
        )


model = FactorModel(4)
params = model.parameters()
optimizer = tf.keras.optimizers.Adam(0.02)
optimizer.build(params)


@tf.function
def step(u, f, r):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(u, f) - r))
    grads = tape.gradient(loss, params)
    grads = [tf.convert_to_tensor(g) for g in grads]
    optimizer.apply_gradients(zip(grads, params))
    return loss


data = tf.data.Dataset.from_tensor_slices((uid[:cut], fid[:cut], stars[:cut])).shuffle(cut).batch(200)
for epoch in range(20):
    losses = [float(step(u, f, r)) for u, f, r in data]
    err = model(tf.constant(uid[cut:]), tf.constant(fid[cut:])) - stars[cut:]
    print(f"epoch {epoch + 1:2d}: train MSE {np.mean(losses):.3f}, test RMSE {float(tf.sqrt(tf.reduce_mean(err**2))):.3f}")
print(f"spread of the ratings (std): {stars[cut:].std():.3f}")
