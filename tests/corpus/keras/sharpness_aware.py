import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import QuantileTransformer


class SharpnessAware:
    """Climb to the worst nearby weights, take the gradient there, step from the old place."""

    def __init__(self, model, optimizer, rho):
        self.model = model
        self.optimizer = optimizer
        self.rho = rho
        self.shadow = [tf.Variable(v, trainable=False) for v in model.trainable_variables]

    def _loss(self, x, y):
        logits = self.model(x, training=True)[:, 0]
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))

    @tf.function(reduce_retracing=True)
    def step(self, x, y):
        weights = self.model.trainable_variables
        with tf.GradientTape() as tape:
            first = self._loss(x, y)
        up = tape.gradient(first, weights)
        norm = tf.linalg.global_norm(up) + 1e-12
        nudges = [g * (self.rho / norm) for g in up]
        for v, e in zip(weights, nudges):
            v.assign_add(e)
        with tf.GradientTape() as tape:
            second = self._loss(x, y)
        down = tape.gradient(second, weights)
        for v, e in zip(weights, nudges):
            v.assign_sub(e)
        self.optimizer.apply_gradients(zip(down, weights))
        return first, second

    def average(self, decay):
        for s, v in zip(self.shadow, self.model.trainable_variables):
            s.assign(decay * s + (1.0 - decay) * v)

    def swap(self):
        for s, v in zip(self.shadow, self.model.trainable_variables):
            kept = tf.identity(v)
            v.assign(s)
            s.assign(kept)


def build(width):
    return tf.keras.Sequential(
        [
            tf.keras.Input((width,)),
            tf.keras.layers.Dense(48, activation="swish"),
            tf.keras.layers.Dense(24, activation="swish"),
            tf.keras.layers.Dense(1),
        ]
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rho", type=float, default=0.1)
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--decay", type=float, default=0.97)
    args = ap.parse_args()

    tf.keras.utils.set_random_seed(8)
    raw = load_breast_cancer()
    x_tr, x_te, y_tr, y_te = train_test_split(raw.data, raw.target, test_size=0.3, stratify=raw.target, random_state=3)
    prep = QuantileTransformer(n_quantiles=100, output_distribution="normal").fit(x_tr)
    x_tr = prep.transform(x_tr).clip(-3, 3).astype("float32")
    x_te = prep.transform(x_te).clip(-3, 3).astype("float32")

    model = build(x_tr.shape[1])
    sam = SharpnessAware(model, tf.keras.optimizers.SGD(0.1, momentum=0.9), args.rho)
    ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr.astype("float32"))).shuffle(512).batch(32)
    for epoch in range(args.epochs):
        pairs = []
        for x, y in ds:
            pairs.append([float(v) for v in sam.step(x, y)])
            sam.average(args.decay)
        if (epoch + 1) % 10 == 0:
            here, above = np.mean(pairs, axis=0)
            print(f"epoch {epoch + 1}: loss {here:.4f}, loss at the climbed point {above:.4f}")

    sam.swap()
    score = model(x_te, training=False).numpy()[:, 0]
    acc = ((score > 0) == (y_te == 1)).mean()
    print(f"test accuracy {acc:.3f} (majority {y_te.mean():.3f}), AUC {roc_auc_score(y_te, score):.3f}")


if __name__ == "__main__":
    main()
