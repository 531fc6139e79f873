import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def embedding_net(n_in, dim):
    return keras.Sequential([
        keras.Input((n_in,)),
        layers.Dense(48, activation="relu"),
        layers.Dense(48, activation="relu"),
        layers.Dense(dim),
    ])


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))


def triplet_loss(d_pos, d_neg, margin):
    return tf.reduce_mean(tf.maximum(d_pos - d_neg + margin, 0.0))


def sample_triplets(y, n, rng):
    anchor = rng.integers(0, len(y), n)
    pos, neg = np.empty_like(anchor), np.empty_like(anchor)
    for i, a in enumerate(anchor):
        pos[i] = rng.choice(np.flatnonzero(y == y[a]))
        neg[i] = rng.choice(np.flatnonzero(y != y[a]))
    return anchor, pos, neg


class TripletTrainer:
    def __init__(self, net, lr, margin):
        self.net = net
        self.margin = margin
        self.opt = keras.optimizers.Adam(lr)

    @tf.function
    def step(self, anchor, pos, neg):
        with tf.GradientTape() as tape:
            ea = self.net(anchor, training=True)
            ep = self.net(pos, training=True)
            en = self.net(neg, training=True)
            loss = triplet_loss(distance(ea, ep), distance(ea, en), self.margin)
        grads = tape.gradient(loss, self.net.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.net.trainable_variables))
        return loss

    def fit(self, x, y, steps, batch, rng):
        running = []
        for s in range(steps):
            a, p, n = sample_triplets(y, batch, rng)
            running.append(float(self.step(x[a], x[p], x[n])))
            if (s + 1) % 50 == 0:
                print(f"step {s + 1:4d}  loss {np.mean(running[-50:]):.4f}")
        return running[-1]


def nearest_accuracy(net, x_ref, y_ref, x, y):
    ref, emb = net.predict(x_ref, verbose=0), net.predict(x, verbose=0)
    d = ((emb[:, None] - ref[None]) ** 2).sum(-1)
    return float((y_ref[d.argmin(1)] == y).mean())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--margin", type=float, default=1.0)
    ap.add_argument("--dim", type=int, default=4)
    args = ap.parse_args()
    keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)

    x, y = load_wine(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.3, random_state=1, stratify=y)
    sc = StandardScaler().fit(x_tr)
    x_tr = sc.transform(x_tr).astype("float32")
    x_te = sc.transform(x_te).astype("float32")

    net = embedding_net(x_tr.shape[1], args.dim)
    trainer = TripletTrainer(net, 2e-3, args.margin)
    last = trainer.fit(x_tr, y_tr, args.steps, args.batch, rng)
    acc = nearest_accuracy(net, x_tr, y_tr, x_te, y_te)
    print(f"last loss {last:.4f}")
    print(f"nearest neighbour accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
