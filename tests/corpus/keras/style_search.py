"""Find the same shoe again: embeddings from a fit() with batch-hard triplets, P kinds x K views in every batch.

Tested on kinds that never occur in training (recall at 1).
"""
import keras
import numpy as np
from keras import layers, ops

SIDE, P, K = 20, 12, 4
keras.utils.set_random_seed(12)


def kinds(n, rng):
    """Each kind is a little arrangement of blobs."""
    return [(rng.uniform(4, SIDE - 4, (4, 2)), rng.uniform(1.0, 2.4, 4), rng.uniform(0.5, 1.2, 4) * rng.choice([-1, 1], 4)) for _ in range(n)]


def view(kind, rng):
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    img = np.zeros((SIDE, SIDE))
    a, s = rng.normal(0, 0.12), rng.normal(0, 0.8, 2)
    rot = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    for c, r, w in zip(*kind):
        c = (c - SIDE / 2) @ rot.T + SIDE / 2 + s + rng.normal(0, 0.25, 2)
        img += w * np.exp(-((yy - c[0]) ** 2 + (xx - c[1]) ** 2) / (2 * r**2))
    return (rng.uniform(0.7, 1.3) * img + rng.normal(0, 0.35, img.shape)).astype("float32")[..., None]


def gallery(ks, per, rng):
    x = np.stack([view(k, rng) for k in ks for _ in range(per)])
    return x, np.repeat(np.arange(len(ks)), per)


class PKBatches(keras.utils.PyDataset):
    def __init__(self, x, y, steps, **kw):
        super().__init__(**kw)
        self.x, self.y, self.steps = x, y, steps
        self.by_kind = [np.flatnonzero(y == k) for k in np.unique(y)]
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return self.steps

    def __getitem__(self, i):
        chosen = self.rng.choice(len(self.by_kind), P, replace=False)
        idx = np.concatenate([self.rng.choice(self.by_kind[k], K, replace=False) for k in chosen])
        return self.x[idx], self.y[idx]


class L2Norm(layers.Layer):
    def call(self, z):
        return z / ops.sqrt(ops.sum(z * z, axis=-1, keepdims=True) + 1e-9)


def batch_hard(y, z):
    """Soft-margin triplets; y holds kind numbers, z unit vectors."""
    y = ops.reshape(y, (-1,))
    d2 = ops.maximum(2.0 - 2.0 * ops.matmul(z, ops.transpose(z)), 0.0)
    dist = ops.sqrt(d2 + 1e-6)
    same = ops.cast(ops.equal(y[:, None], y[None, :]), "float32")
    hardest_pos = ops.max(dist * same, axis=1)
    hardest_neg = ops.min(dist + 10.0 * same, axis=1)
    return ops.softplus(6.0 * (hardest_pos - hardest_neg))


def encoder():
    inp = keras.Input((SIDE, SIDE, 1))
    x = inp
    for w in (16, 32, 64):
        x = layers.Conv2D(w, 3, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.LeakyReLU(negative_slope=0.1)(x)
        x = layers.MaxPooling2D(2)(x)
    x = layers.Flatten()(x)
    return keras.Model(inp, L2Norm()(layers.Dense(48)(x)))


def recall_at_1(z, y):
    sim = z @ z.T
    np.fill_diagonal(sim, -2)
    return float((y[sim.argmax(1)] == y).mean())


class Retrieval(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.data = x, y

    def on_epoch_end(self, epoch, logs=None):
        z = self.model.predict(self.data[0], verbose=0, batch_size=200)
        logs["val_recall1"] = recall_at_1(z, self.data[1])


rng = np.random.default_rng(5)
x_tr, y_tr = gallery(kinds(120, rng), 12, rng)
x_va, y_va = gallery(kinds(40, rng), 6, rng)
x_te, y_te = gallery(kinds(80, rng), 6, rng)

model = encoder()
raw = recall_at_1(*(lambda v: (v / np.linalg.norm(v, axis=1, keepdims=True), y_te))(x_te.reshape(len(x_te), -1)))
fresh = recall_at_1(model.predict(x_te, verbose=0), y_te)
model.compile(keras.optimizers.AdamW(1e-3, weight_decay=1e-3, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=40), loss=batch_hard)
model.fit(PKBatches(x_tr, y_tr, 40), epochs=9, verbose=2, callbacks=[Retrieval(x_va, y_va)])
final = recall_at_1(model.predict(x_te, verbose=0), y_te)
print(f"held-out recall@1 on unseen kinds {final:.3f} (raw pixels {raw:.3f}, untrained {fresh:.3f})")
