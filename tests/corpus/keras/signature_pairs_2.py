"""Siamese verification on hand-written symbols: same writer-symbol or not (contrastive loss)."""
import numpy as np
import tensorflow as tf
import keras
from keras import layers
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

keras.utils.set_random_seed(13)
MARGIN = 1.0
STEPS = 600
BATCH = 64


class PairSampler:
    """Yields (left, right, same) with about as many matching as non-matching pairs."""

    def __init__(self, images, labels, seed):
        self.images, self.labels = images, labels
        self.rng = np.random.default_rng(seed)
        self.by_class = [np.flatnonzero(labels == c) for c in range(10)]

    def sample(self, n):
        left = self.rng.integers(0, len(self.images), n)
        same = self.rng.integers(0, 2, n)
        right = np.empty(n, dtype=int)
        for i, (a, s) in enumerate(zip(left, same)):
            c = self.labels[a]
            if not s:
                c = (c + self.rng.integers(1, 10)) % 10
            right[i] = self.rng.choice(self.by_class[c])
        return self.images[left], self.images[right], same.astype("float32")


def embedder(dim=16):
    return keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(24, 3, activation="relu"),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(dim),
    ])


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))


def contrastive(d, same):
    pull = same * d
    push = (1.0 - same) * tf.square(tf.maximum(MARGIN - d, 0.0))
    return tf.reduce_mean(pull + push)


digits = load_digits()
images = (digits.images / 16.0).astype("float32")[..., None]
x_tr, x_te, y_tr, y_te = train_test_split(
    images, digits.target, test_size=0.3, stratify=digits.target, random_state=0)
train_pairs = PairSampler(x_tr, y_tr, seed=1)
test_a, test_b, test_same = PairSampler(x_te, y_te, seed=2).sample(2000)

net = embedder()
optimizer = keras.optimizers.Adam(1e-3)


@tf.function
def step(a, b, same):
    with tf.GradientTape() as tape:
        loss = contrastive(distance(net(a, training=True), net(b, training=True)), same)
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss


def verify():
    d = distance(net(test_a), net(test_b)).numpy()
    if not np.all(np.isfinite(d)):
        return float("nan"), float("nan")
    return roc_auc_score(test_same, -d), np.mean((d < MARGIN / 2) == (test_same > 0.5))


log = []
for it in range(1, STEPS + 1):
    a, b, same = train_pairs.sample(BATCH)
    log.append(float(step(a, b, same)))
    if it % 100 == 0:
        auc, acc = verify()
        print(f"step {it:4d} loss {np.mean(log[-100:]):.4f} test_auc {auc:.4f} test_acc {acc:.4f}")

raw = np.sqrt(((test_a - test_b) ** 2).sum((1, 2, 3)))
print(f"raw-pixel AUC {roc_auc_score(test_same, -raw):.4f}; learned AUC {auc:.4f}, accuracy {acc:.4f}")
