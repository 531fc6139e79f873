"""Pairwise ranking (BPR) of songs for listeners: two optimizers, gradients summed over four small batches."""
import argparse

import numpy as np
import tensorflow as tf

p = argparse.ArgumentParser()
p.add_argument("--users", type=int, default=300)
p.add_argument("--songs", type=int, default=200)
p.add_argument("--dim", type=int, default=12)
p.add_argument("--micro", type=int, default=64)
p.add_argument("--accumulate", type=int, default=4)
p.add_argument("--updates", type=int, default=350)
args = p.parse_args()

rng = np.random.default_rng(6)
tf.keras.utils.set_random_seed(6)

taste = rng.normal(size=(args.users, 4))
style = rng.normal(size=(args.songs, 4))
fame = rng.normal(0, 0.7, size=args.songs)
affinity = taste @ style.T + fame + rng.normal(0, 0.5, size=(args.users, args.songs))
liked = np.argsort(-affinity, axis=1)[:, :24]
liked = rng.permuted(liked, axis=1)
seen, held_out = liked[:, :18], liked[:, 18:]
liked_mask = np.zeros((args.users, args.songs), bool)
np.put_along_axis(liked_mask, liked, True, axis=1)


def triples(n):
    u = rng.integers(0, args.users, n)
    pos = seen[u, rng.integers(0, seen.shape[1], n)]
    neg = rng.integers(0, args.songs, n)
    bad = liked_mask[u, neg]
    while bad.any():
        neg[bad] = rng.integers(0, args.songs, bad.sum())
        bad = liked_mask[u, neg]
    return tf.constant(u), tf.constant(pos), tf.constant(neg)


class Ranker(tf.Module):
    def __init__(self):
        self.user = tf.keras.layers.Embedding(args.users, args.dim, embeddings_initializer="normal")
        self.song = tf.keras.layers.Embedding(args.songs, args.dim, embeddings_initializer="normal")
        self.tower = tf.keras.layers.Dense(args.dim)
        self.bias = tf.Variable(tf.zeros(args.songs))
        for layer, shape in ((self.user, None), (self.song, None), (self.tower, (None, args.dim))):
            layer.build(shape)

    def __call__(self, u, s):
        return tf.reduce_sum(self.tower(self.user(u)) * self.song(s), -1) + tf.gather(self.bias, s)


net = Ranker()
tables = [net.user.embeddings, net.song.embeddings]
dense = list(net.tower.trainable_variables)
opt_tables = tf.keras.optimizers.Adagrad(0.5)
opt_dense = tf.keras.optimizers.Adam(2e-3)
bias_rate = 0.5


@tf.function
def micro_gradients(u, pos, neg):
    with tf.GradientTape() as tape:
        margin = net(u, pos) - net(u, neg)
        loss = tf.reduce_mean(tf.nn.softplus(-margin))
    grads = tape.gradient(loss, tables + [v.value for v in dense] + [net.bias])
    return loss, [tf.convert_to_tensor(g) / args.accumulate for g in grads]


def auc():
    u = np.repeat(np.arange(args.users), held_out.shape[1])
    neg = np.where(liked_mask[u], -np.inf, rng.random((len(u), args.songs))).argmax(1)
    return float(np.mean(net(u, held_out.ravel()).numpy() > net(u, neg).numpy()))


print("held-out pairwise accuracy before:", round(auc(), 3))
running = []
for update in range(1, args.updates + 1):
    summed = None
    for _ in range(args.accumulate):
        loss, grads = micro_gradients(*triples(args.micro))
        summed = grads if summed is None else [a + b for a, b in zip(summed, grads)]
        running.append(float(loss))
    opt_tables.apply_gradients(zip(summed[:2], tables))
    opt_dense.apply_gradients(zip(summed[2:-1], dense))
    net.bias.assign_sub(bias_rate * summed[-1])
    if update % 50 == 0:
        print(f"update {update}: loss {np.mean(running):.3f}, held-out pairwise accuracy {auc():.3f}")
        running = []
