"""Learns an embedding of the digits with a triplet loss, then 1-NN."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

keras.utils.set_random_seed(11)


class TripletSampler:
    """Endless batches of (anchor, positive, negative) out of a labelled set."""

    def __init__(self, x, y, batch, seed=0):
        self.x, self.y, self.batch = x, y, batch
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(y == c) for c in range(10)]

    def __iter__(self):
        return self

    def __next__(self):
        anchor = self.rng.integers(0, len(self.x), self.batch)
        pos, neg = np.empty_like(anchor), np.empty_like(anchor)
        for i, a in enumerate(anchor):
            pos[i] = self.rng.choice(self.by_class[self.y[a]])
            other = (self.y[a] + self.rng.integers(1, 10)) % 10
            neg[i] = self.rng.choice(self.by_class[other])
        return self.x[anchor], self.x[pos], self.x[neg]


def pair_distance(a, b):
    squared = tf.reduce_sum(tf.square(a - b), axis=1)
    return tf.sqrt(squared)


def triplet(d_pos, d_neg, margin=1.0):
    return tf.reduce_mean(tf.maximum(d_pos - d_neg + margin, 0.0))


class MetricLearner:
    def __init__(self, dim=16, lr=1e-3):
        self.tower = keras.Sequential(
            [
                keras.Input((64,)),
                layers.Dense(96, activation="relu"),
                layers.Dense(dim),
            ]
        )
        self.opt = keras.optimizers.Adam(lr)

    @tf.function
    def step(self, anchor, pos, neg):
        with tf.GradientTape() as tape:
            e = [self.tower(part, training=True) for part in (anchor, pos, neg)]
            loss = triplet(pair_distance(e[0], e[1]), pair_distance(e[0], e[2]))
        grads = tape.gradient(loss, self.tower.trainable_variables)
        self.opt.apply_gradients(zip(grads, self.tower.trainable_variables))
        return loss

    def fit(self, sampler, steps=600, every=150):
        for i, batch in zip(range(1, steps + 1), sampler):
            loss = self.step(*batch)
            if i % every == 0:
                print(f"step {i}: loss {float(loss):.4f}")
        return self

    def embed(self, x):
        return np.nan_to_num(self.tower.predict(x, verbose=0))


x, y = load_digits(return_X_y=True)
x = (x / 16.0).astype("float32")
x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.4, stratify=y, random_state=1)

learner = MetricLearner().fit(TripletSampler(x_tr, y_tr, batch=64, seed=3))

anchors = np.concatenate([np.flatnonzero(y_tr == c)[:3] for c in range(10)])
knn = KNeighborsClassifier(1).fit(learner.embed(x_tr[anchors]), y_tr[anchors])
print("1-NN accuracy from 30 anchors:", round(knn.score(learner.embed(x_te), y_te), 3))
