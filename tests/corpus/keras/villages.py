"""Semi-supervised dialect regions of villages on a road graph: two graph convolutions, full batch (tf_keras)."""
import argparse

import numpy as np
import tensorflow as tf
import tf_keras
from tf_keras import layers


def road_graph(n, regions, seed):
    rng = np.random.default_rng(seed)
    region = np.sort(rng.integers(0, regions, n))
    same = region[:, None] == region[None, :]
    upper = np.triu(rng.random((n, n)) < np.where(same, 0.06, 0.005), 1)
    adj = (upper | upper.T).astype("float32")
    centre = rng.normal(0, 1, (regions, 12))
    feats = 0.45 * centre[region] + rng.normal(0, 1, (n, 12))
    return adj, feats.astype("float32"), region


def normalise(adj):
    a = adj + np.eye(len(adj), dtype="float32")
    d = 1 / np.sqrt(a.sum(1))
    return a * d[:, None] * d[None, :]


class GraphConv(layers.Layer):
    def __init__(self, units, adj, activation=None, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(units, use_bias=True)
        self.adj = tf.constant(adj)
        self.activation = tf_keras.activations.get(activation)

    def call(self, x):
        return self.activation(tf.matmul(self.adj, self.dense(x)))


def build(adj, features, regions):
    inputs = layers.Input((features,))
    h = layers.Dropout(0.3)(inputs)
    h = GraphConv(24, adj, "relu")(h)
    h = layers.Dropout(0.3)(h)
    return tf_keras.Model(inputs, GraphConv(regions, adj)(h))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--villages", type=int, default=420)
    parser.add_argument("--regions", type=int, default=4)
    parser.add_argument("--labelled", type=int, default=15, help="labelled villages per region")
    parser.add_argument("--epochs", type=int, default=120)
    args = parser.parse_args()

    tf_keras.utils.set_random_seed(6)
    adj, x, y = road_graph(args.villages, args.regions, 6)
    rng = np.random.default_rng(0)
    known = np.zeros(len(y), "float32")
    for k in range(args.regions):
        known[rng.choice(np.flatnonzero(y == k), args.labelled, replace=False)] = 1

    model = build(normalise(adj), x.shape[1], args.regions)
    model.compile(
        optimizer=tf_keras.optimizers.Adam(0.01),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=["accuracy"],
    )
    history = model.fit(x, y, sample_weight=known, batch_size=len(x), shuffle=False, epochs=args.epochs, verbose=0)
    for epoch in range(0, args.epochs, 20):
        print(epoch, {k: round(v[epoch], 4) for k, v in history.history.items()})
    pred = model.predict(x, batch_size=len(x), verbose=0).argmax(1)
    print(f"unlabelled villages: accuracy {np.mean((pred == y)[known == 0]):.3f}, regions {args.regions}")


if __name__ == "__main__":
    main()
