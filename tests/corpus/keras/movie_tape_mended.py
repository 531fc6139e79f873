import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import keras
import numpy as np
import pandas as pd
import tensorflow as tf
from keras import layers

N_USERS, N_ITEMS, N_RATINGS, DIM = 200, 120, 9000, 8


def fake_ratings(seed=5):
    g = np.random.default_rng(seed)
    u_lat = g.normal(size=(N_USERS, 3))
    i_lat = g.normal(size=(N_ITEMS, 3))
    df = pd.DataFrame({
        "user": g.integers(0, N_USERS, N_RATINGS),
        "item": g.integers(0, N_ITEMS, N_RATINGS),
    }).drop_duplicates()
    raw = 3.3 + 0.7 * (u_lat[df.user] * i_lat[df.item]).sum(1) + g.normal(0, 0.3, len(df))
    df["rating"] = np.clip(np.round(raw * 2) / 2, 0.5, 5.0)
    return df.reset_index(drop=True)


class MatrixFactorization(keras.Model):
    def __init__(self, n_users, n_items, dim, offset, l2=1e-5, **kw):
        super().__init__(**kw)
        reg = keras.regularizers.L2(l2)
        self.offset = offset
        self.user_emb = layers.Embedding(n_users, dim, embeddings_regularizer=reg)
        self.item_emb = layers.Embedding(n_items, dim, embeddings_regularizer=reg)
        self.user_bias = layers.Embedding(n_users, 1)
        self.item_bias = layers.Embedding(n_items, 1)
        self.mse = keras.metrics.Mean(name="mse")

    @property
    def metrics(self):
        return [self.mse]

    def call(self, pair):
        u, i = pair[:, 0], pair[:, 1]
        dot = tf.reduce_sum(self.user_emb(u) * self.item_emb(i), axis=1, keepdims=True)
        return dot + self.user_bias(u) + self.item_bias(i) + self.offset

    def train_step(self, data):
        pair, rating = data
        with tf.GradientTape() as tape:
            pred = self(pair, training=True)
            err = tf.reduce_mean(tf.square(rating - pred))
            loss = err + tf.add_n(self.losses)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.mse.update_state(err)
        return {"mse": self.mse.result()}


keras.utils.set_random_seed(0)
ratings = fake_ratings()
mask = np.random.rand(len(ratings)) < 0.85
train, test = ratings[mask], ratings[~mask]

model = MatrixFactorization(N_USERS, N_ITEMS, DIM, float(train.rating.mean()))
model.compile(optimizer=keras.optimizers.Adam(0.01))
model.fit(train[["user", "item"]].values, train[["rating"]].values.astype("float32"),
          batch_size=128, epochs=15, verbose=2)

pred = model.predict(test[["user", "item"]].values, verbose=0)[:, 0]
rmse = np.sqrt(np.mean((pred - test.rating.values) ** 2))
base = test.rating.std()
print(f"test RMSE {rmse:.3f} (constant predictor {base:.3f})")
