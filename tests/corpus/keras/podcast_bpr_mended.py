import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import numpy as np
import tensorflow as tf
import keras


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--listeners", type=int, default=400)
    p.add_argument("--shows", type=int, default=250)
    p.add_argument("--dim", type=int, default=16)
    p.add_argument("--capacity", type=int, default=512)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch", type=int, default=256)
    return p.parse_args()


def simulate(rng, n_users, n_items):
    taste = rng.normal(size=(n_users, 4))
    style = rng.normal(size=(n_items, 4))
    score = taste @ style.T + rng.gumbel(size=(n_users, n_items)) * 0.4
    rows, held = [], []
    for u in range(n_users):
        top = np.argsort(-score[u])[:31]
        rng.shuffle(top)
        rows += [(u, i) for i in top[:30]]
        held.append((u, top[30]))
    return np.array(rows, "int32"), np.array(held, "int32")


class Factors(keras.Model):
    def __init__(self, capacity, dim):
        super().__init__()
        init = keras.initializers.RandomNormal(stddev=0.1)
        self.listener = keras.layers.Embedding(capacity, dim, embeddings_initializer=init)
        self.show = keras.layers.Embedding(capacity, dim, embeddings_initializer=init)
        self.popularity = keras.layers.Embedding(capacity, 1, embeddings_initializer="zeros")

    def call(self, listener, show):
        dot = tf.reduce_sum(self.listener(listener) * self.show(show), -1)
        return dot + self.popularity(show)[:, 0]


def hit_rate(model, held, seen, n_items, k=20):
    hits = 0
    items = tf.range(n_items)
    for u, i in held:
        s = model(tf.fill([n_items], int(u)), items).numpy()
        s[list(seen[u])] = -1e9
        hits += i in np.argpartition(-s, k)[:k]
    return hits / len(held)


def main():
    args = parse()
    keras.utils.set_random_seed(21)
    rng = np.random.default_rng(21)
    rows, held = simulate(rng, args.listeners, args.shows)
    seen = {u: set() for u in range(args.listeners)}
    for u, i in rows:
        seen[u].add(i)
    model = Factors(args.capacity, args.dim)
    opt = keras.optimizers.Adam(0.01)

    @tf.function
    def step(listener, liked, other):
        with tf.GradientTape() as tape:
            gap = model(listener, liked) - model(listener, other)
            loss = tf.reduce_mean(tf.nn.softplus(-gap))
            reg = sum(tf.reduce_mean(tf.square(w)) for w in model.trainable_variables)
            total = loss + 0.01 * reg
        grads = tape.gradient(total, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(args.epochs):
        order = rng.permutation(len(rows))
        running = []
        for s in range(0, len(order) - args.batch + 1, args.batch):
            listeners, shows = rows[order[s:s + args.batch]].T
            other = rng.integers(0, args.shows, args.batch).astype("int32")
            running.append(float(step(tf.constant(listeners), tf.constant(shows), tf.constant(other))))
        if epoch % 3 == 2:
            hr = hit_rate(model, held, seen, args.shows)
            print(f"epoch {epoch + 1:2d}  loss {np.mean(running):.4f}  hit@20 {hr:.3f}")
    print("chance hit@20 about", round(20 / (args.shows - 30), 3))


if __name__ == "__main__":
    main()
