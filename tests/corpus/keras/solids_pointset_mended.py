# Classify little solids from 64 surface points each (PointNet-like, hand-written loop).
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

NAMES = ["sphere", "cube", "cylinder", "cone", "torus", "saddle"]
N_POINTS = 64


def sample_solid(kind, rng, n=N_POINTS):
    u, v = rng.random(n), rng.random(n)
    a = 2 * np.pi * u
    if kind == 0:
        z = 2 * v - 1
        r = np.sqrt(1 - z ** 2)
        pts = np.stack([r * np.cos(a), r * np.sin(a), z], 1)
    elif kind == 1:
        pts = rng.uniform(-0.8, 0.8, (n, 3))
        face = rng.integers(0, 3, n)
        pts[np.arange(n), face] = 0.8 * rng.choice([-1, 1], n)
    elif kind == 2:
        pts = np.stack([0.8 * np.cos(a), 0.8 * np.sin(a), 1.8 * v - 0.9], 1)
    elif kind == 3:
        r = np.sqrt(v)
        pts = np.stack([r * np.cos(a), r * np.sin(a), 0.9 - 1.8 * r], 1)
    elif kind == 4:
        b = 2 * np.pi * v
        pts = np.stack([(0.75 + 0.3 * np.cos(b)) * np.cos(a), (0.75 + 0.3 * np.cos(b)) * np.sin(a),
                        0.3 * np.sin(b)], 1)
    else:
        xy = rng.uniform(-0.9, 0.9, (n, 2))
        pts = np.stack([xy[:, 0], xy[:, 1], xy[:, 0] ** 2 - xy[:, 1] ** 2], 1)
    tilt = rng.normal(size=3)
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)) * 0.35 + np.eye(3) + 0.1 * np.diag(tilt))
    return (pts * rng.uniform(0.7, 1.2) + 0.06 * rng.normal(size=(n, 3))) @ q.T


def dataset(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(NAMES), n)
    x = np.stack([sample_solid(k, rng) for k in y]).astype("float32")
    return x, y.astype("int32")


class PointEncoder(keras.Model):
    """Shared per-point MLP followed by a max over the points."""

    def __init__(self, widths=(32, 64, 10)):
        super().__init__()
        self.mlp = [layers.Dense(w) for w in widths]
        self.norms = [layers.LayerNormalization() for _ in widths[:-1]]

    def call(self, pts):
        h = pts
        for dense, norm in zip(self.mlp, self.norms):
            h = tf.nn.relu(norm(dense(h)))
        h = self.mlp[-1](h)
        return tf.reduce_max(h, axis=1)


def make_head(dim=10):
    return keras.Sequential([keras.Input((dim,)),
                             layers.Dropout(0.1),
                             layers.Dense(len(NAMES))])


def evaluate(encoder, head, x, y):
    logits = head(encoder(x), training=False)
    return float(np.mean(logits.numpy().argmax(1) == y))


def train(epochs=25, batch=64, lr=3e-3):
    x_tr, y_tr = dataset(1800, 1)
    x_va, y_va = dataset(600, 2)
    x_te, y_te = dataset(900, 3)
    encoder, head = PointEncoder(), make_head()
    encoder(x_tr[:1])
    params = encoder.trainable_variables + head.trainable_variables

    steps = epochs * (len(x_tr) // batch)
    optimizer = keras.optimizers.AdamW(keras.optimizers.schedules.CosineDecay(lr, steps),
                                       weight_decay=1e-4)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, head(encoder(x), training=True))
        grads = tape.gradient(loss, params)
        optimizer.apply_gradients(zip(grads, params))
        return loss

    ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(2000, seed=0).batch(batch, True)
    start = time.time()
    for epoch in range(epochs):
        losses = [float(step(x, y)) for x, y in ds]
        if epoch % 5 == 4 or epoch == 0:
            print(f"[{time.time() - start:5.1f}s] epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}  "
                  f"validation accuracy {evaluate(encoder, head, x_va, y_va):.3f}")

    print(f"test accuracy {evaluate(encoder, head, x_te, y_te):.3f} "
          f"(guessing {np.bincount(y_te).max() / len(y_te):.3f})")


if __name__ == "__main__":
    keras.utils.set_random_seed(31)
    train()
