"""Matrix factorisation with side biases for board game ratings, own training loop."""
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def synth_ratings(users, games, per_user, seed):
    rng = np.random.default_rng(seed)
    pu = rng.normal(0, 1, (users, 3))
    qg = rng.normal(0, 1, (games, 3))
    bu = rng.normal(0, 0.4, users)
    bg = rng.normal(0, 0.7, games)
    u = np.repeat(np.arange(users), per_user)
    g = np.concatenate([rng.choice(games, per_user, replace=False) for _ in range(users)])
    score = 6.5 + bu[u] + bg[g] + 0.7 * (pu[u] * qg[g]).sum(1) + rng.normal(0, 0.3, len(u))
    order = rng.permutation(len(u))
    return u[order].astype("int32"), g[order].astype("int32"), np.clip(score, 1, 10)[order].astype("float32")


class Factors(keras.Model):
    def __init__(self, users, games, dim, mean):
        super().__init__()
        reg = keras.regularizers.L2(1e-5)
        self.user = layers.Embedding(users, dim, embeddings_regularizer=reg, name="user")
        self.game = layers.Embedding(games, dim, embeddings_regularizer=reg, name="game")
        self.user_bias = layers.Embedding(users, 1, embeddings_initializer="zeros")
        self.game_bias = layers.Embedding(games, 1, embeddings_initializer="zeros")
        self.mean = mean

    def call(self, inputs):
        u, g = inputs
        dot = tf.reduce_sum(self.user(u) * self.game(g), axis=-1, keepdims=True)
        return dot + self.user_bias(u) + self.game_bias(g) + self.mean


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = keras.optimizers.Adam(lr)

    @tf.function
    def step(self, u, g, r):
        with tf.GradientTape() as tape:
            pred = self.model((u, g))
            loss = tf.reduce_mean(tf.square(pred - r)) + tf.add_n(self.model.losses)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def evaluate(self, u, g, r):
        pred = self.model.predict((u, g), batch_size=2048, verbose=0).ravel()
        return float(np.sqrt(np.mean((pred - r) ** 2)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--users", type=int, default=300)
    ap.add_argument("--games", type=int, default=120)
    ap.add_argument("--per-user", type=int, default=40)
    ap.add_argument("--dim", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()

    keras.utils.set_random_seed(21)
    u, g, r = synth_ratings(args.users, args.games, args.per_user, 21)
    cut = int(0.9 * len(r))
    ds = tf.data.Dataset.from_tensor_slices((u[:cut], g[:cut], r[:cut])).shuffle(cut, seed=2).batch(128)

    model = Factors(args.users, args.games, args.dim, float(r[:cut].mean()))
    model((u[:2], g[:2]))
    trainer = Trainer(model, args.lr)
    for epoch in range(args.epochs):
        start, total, n = time.time(), 0.0, 0
        for bu, bg, br in ds:
            total += float(trainer.step(bu, bg, br))
            n += 1
        rmse = trainer.evaluate(u[cut:], g[cut:], r[cut:])
        print(f"epoch {epoch + 1:2d}  loss {total / n:.4f}  test RMSE {rmse:.4f}  ({time.time() - start:.1f}s)")
    print(f"always the mean: {np.std(r[cut:]):.4f}")


if __name__ == "__main__":
    main()
