"""Next item in a shopping session: Keras GRU whose output matrix is its embedding table.

Sampled softmax is not needed at this size; weights are tied, scores are scaled cosines.
"""
import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(23)
ITEMS, LEN = 150, 10


def sessions(n, seed):
    world = np.random.default_rng(5)
    follow = np.stack([world.choice(np.arange(1, ITEMS + 1), 4, replace=False) for _ in range(ITEMS + 1)])
    rng = np.random.default_rng(seed)
    out = np.zeros((n, LEN + 1), "int32")
    for row in out:
        length = int(rng.integers(4, LEN + 2))
        item = int(rng.integers(1, ITEMS + 1))
        seq = [item]
        while len(seq) < length:
            if rng.random() < 0.8:
                item = int(follow[seq[-1]][rng.choice(4, p=[0.6, 0.2, 0.1, 0.1])])
            else:
                item = int(rng.integers(1, ITEMS + 1))
            seq.append(item)
        row[-length:] = seq                     # zeros in front
    return out[:, :-1], out[:, -1]


class TiedScores(layers.Layer):
    def __init__(self, table, scale=12.0, **kw):
        super().__init__(**kw)
        self.table = table
        self.scale = scale

    def build(self, shape):
        self.bias = self.add_weight(shape=(ITEMS + 1,), initializer="zeros", name="popularity")

    def call(self, h):
        e = self.table.embeddings
        h = h / (ops.norm(h, axis=-1, keepdims=True) + 1e-6)
        e = e / (ops.norm(e, axis=-1, keepdims=True) + 1e-6)
        return self.scale * ops.matmul(h, ops.transpose(e)) + self.bias


def build(dim=48):
    ids = keras.Input((LEN,), dtype="int32")
    table = layers.Embedding(ITEMS + 1, dim, mask_zero=True)
    h = layers.SpatialDropout1D(0.1)(table(ids))
    h = layers.GRU(64, reset_after=True, use_cudnn=False)(h)
    h = layers.Dense(dim)(h)
    return keras.Model(ids, TiedScores(table)(h))


class HitRate(keras.callbacks.Callback):
    def __init__(self, x, y, k=5):
        super().__init__()
        self.x, self.y, self.k = x, y, k

    def measure(self):
        scores = self.model.predict(self.x, verbose=0, batch_size=500)
        scores[:, 0] = -np.inf
        top = np.argsort(-scores, 1)[:, :self.k]
        return (top == self.y[:, None]).any(1).mean(), (top[:, 0] == self.y).mean()

    def on_epoch_end(self, epoch, logs=None):
        k, one = self.measure()
        print(f"epoch {epoch + 1} loss {logs['loss']:.3f} hit@{self.k} {k:.3f} hit@1 {one:.3f}")


x, y = sessions(14000, 1)
xv, yv = sessions(800, 2)
xt, yt = sessions(1500, 3)
model = build()
model.compile(optimizer=keras.optimizers.Lion(4e-4, weight_decay=0.05),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
watch = HitRate(xv, yv)
model.fit(x, y, epochs=4, batch_size=64, verbose=0, callbacks=[watch])

watch.x, watch.y = xt, yt
k, one = watch.measure()
popular = np.argsort(-np.bincount(y, minlength=ITEMS + 1))[:5]
print(f"test hit@5 {k:.3f} hit@1 {one:.3f}   five most popular items {np.isin(yt, popular).mean():.3f}")
