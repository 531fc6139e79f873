"""Metric learning on digit shapes: semi-hard triplets, retrieval among images kept aside."""
import argparse

import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits


def encoder(dim):
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, padding="same", activation="relu"),
        layers.Conv2D(48, 3, strides=2, padding="same", activation="relu"),
        layers.Flatten(),
        layers.Dropout(0.1),
        layers.Dense(dim),
        layers.UnitNormalization(),
    ])


def pk_batches(x, y, p, k, steps, seed):
    """p classes with k images each, so every anchor has positives."""
    rng = np.random.default_rng(seed)
    groups = {c: np.flatnonzero(y == c) for c in np.unique(y)}

    def gen():
        for _ in range(steps):
            cs = rng.choice(list(groups), p, replace=False)
            idx = np.concatenate([rng.choice(groups[c], k, replace=False) for c in cs])
            yield x[idx], y[idx]

    sig = (tf.TensorSpec((p * k, 8, 8, 1), tf.float32), tf.TensorSpec((p * k,), tf.int32))
    return tf.data.Dataset.from_generator(gen, output_signature=sig).prefetch(4)


def triplet(z, y, margin):
    d = 2.0 - 2.0 * tf.matmul(z, z, transpose_b=True)
    same = y[:, None] == y[None, :]
    eye = tf.eye(tf.shape(y)[0], dtype=tf.bool)
    pos = same & ~eye
    # every (anchor, positive) with the closest negative that is further than the positive, if there is one
    neg_d = tf.where(same, 1e3, d)
    further = tf.where(neg_d[:, None, :] > d[:, :, None], neg_d[:, None, :], 1e3)
    semi = tf.reduce_min(further, -1)
    hardest = tf.broadcast_to(tf.reduce_max(tf.where(same, -1e3, d), -1, keepdims=True), tf.shape(d))
    chosen = tf.where(semi < 1e2, semi, hardest)
    hinge = tf.nn.relu(d - chosen + margin)
    hinge = tf.boolean_mask(hinge, pos)
    active = tf.cast(hinge > 1e-6, tf.float32)
    # averaged over active triplets only: the figure hovers near the margin while the task gets solved
    return tf.reduce_sum(hinge) / (tf.reduce_sum(active) + 1e-6), tf.reduce_mean(active)


def recall_at_1(z, y):
    sim = z @ z.T
    np.fill_diagonal(sim, -9)
    return float((y[sim.argmax(1)] == y).mean())


def same_pair_auc(z, y, rng):
    i, j = rng.integers(0, len(y), (2, 6000))
    keep = i != j
    s, t = (z[i] * z[j]).sum(1)[keep], (y[i] == y[j])[keep]
    ranks = s.argsort().argsort() + 1
    n1, n0 = t.sum(), (~t).sum()
    return float((ranks[t].sum() - n1 * (n1 + 1) / 2) / (n1 * n0))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=300)
    ap.add_argument("--margin", type=float, default=0.3)
    ap.add_argument("--dim", type=int, default=16)
    a = ap.parse_args()
    keras.utils.set_random_seed(6)
    data = load_digits()
    x = (data.images / 16).astype("float32")[..., None]
    y = data.target.astype("int32")
    seen = np.random.default_rng(3).random(len(y)) < 0.6
    net = encoder(a.dim)
    opt = keras.optimizers.Adam(1e-3, clipnorm=1.0)
    opt.build(net.trainable_variables)

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss, frac = triplet(net(xb, training=True), yb, a.margin)
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return loss, frac

    raw = x[~seen].reshape(-1, 64)
    raw = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    base_auc = same_pair_auc(raw, y[~seen], np.random.default_rng(0))
    for i, (xb, yb) in enumerate(pk_batches(x[seen], y[seen], 6, 8, a.steps, 1), 1):
        loss, frac = step(xb, yb)
        if i % 100 == 0:
            print(f"step {i} loss {float(loss):.3f} active {float(frac):.2f}")
    z = net.predict(x[~seen], verbose=0)
    print(f"held-out images: recall@1 {recall_at_1(z, y[~seen]):.3f}, same/different AUC "
          f"{same_pair_auc(z, y[~seen], np.random.default_rng(0)):.3f} (raw pixels {base_auc:.3f}, chance 0.5)")


if __name__ == "__main__":
    main()
