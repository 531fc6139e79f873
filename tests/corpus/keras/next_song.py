"""Next-song recommender: tied item table, in-batch negatives with popularity correction,
gradient accumulation and averaged weights, all in one explicit loop."""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SONGS, STYLES, HISTORY = 300, 12, 6
DIM, MICRO, ACCUM, UPDATES = 24, 64, 4, 220
DECAY = 0.97
os.makedirs("out", exist_ok=True)
keras.utils.set_random_seed(14)

world = np.random.default_rng(3)
STYLE_OF = world.integers(0, STYLES, SONGS)
POP = 1.0 / (1 + np.argsort(np.argsort(world.random(SONGS)))) ** 0.6
FLOW = world.dirichlet(np.full(STYLES, 0.15), STYLES)


def sessions(n, seed):
    rng = np.random.default_rng(seed)
    by_style = [np.flatnonzero(STYLE_OF == s) for s in range(STYLES)]
    prob = [POP[m] / POP[m].sum() for m in by_style]
    out = np.empty((n, HISTORY + 1), "int32")
    for r in range(n):
        s = rng.integers(STYLES)
        for t in range(HISTORY + 1):
            out[r, t] = rng.choice(by_style[s], p=prob[s])
            s = rng.choice(STYLES, p=FLOW[s]) if rng.random() < 0.8 else s
    return out[:, :-1], out[:, -1]


class Recommender(keras.Model):
    def __init__(self):
        super().__init__()
        self.items = layers.Embedding(SONGS, DIM, embeddings_initializer="glorot_uniform")
        self.mix = layers.GRU(DIM)
        self.out = layers.Dense(DIM)

    def call(self, history):
        return self.out(self.mix(self.items(history)))

    def score_all(self, history):
        # the input table is the output table
        return tf.matmul(self(history), self.items.embeddings, transpose_b=True)


h_tr, y_tr = sessions(9000, 1)
h_te, y_te = sessions(1500, 2)
counts = np.bincount(y_tr, minlength=SONGS) + 1.0
log_q = tf.constant(np.log(counts / counts.sum()), tf.float32)

model = Recommender()
model(h_tr[:2])
params = model.trainable_variables
sums = [tf.Variable(tf.zeros_like(p)) for p in params]
average = [tf.Variable(p) for p in params]
optimizer = keras.optimizers.Lion(
    keras.optimizers.schedules.CosineDecay(2e-3, UPDATES, warmup_target=4e-3, warmup_steps=20),
    weight_decay=0.02,
)


@tf.function
def micro_step(history, target):
    with tf.GradientTape() as tape:
        query = model(history)
        logits = tf.matmul(query, model.items(target), transpose_b=True)
        logits -= tf.gather(log_q, target)[None, :]
        # the same song twice in a batch is not a negative
        same = tf.equal(target[:, None], target[None, :])
        off = tf.logical_and(same, tf.logical_not(tf.eye(MICRO, dtype=tf.bool)))
        logits = tf.where(off, -1e9, logits)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.range(MICRO), logits)
        )
    for s, g in zip(sums, tape.gradient(loss, params)):
        s.assign_add(tf.convert_to_tensor(g) / ACCUM)
    return loss


@tf.function
def update():
    grads, norm = tf.clip_by_global_norm([s.read_value() for s in sums], 1.0)
    optimizer.apply_gradients(zip(grads, params))
    for s in sums:
        s.assign(tf.zeros_like(s))
    for a, p in zip(average, params):
        a.assign(DECAY * a + (1 - DECAY) * p)
    return norm


def hit_rate(k=10):
    top = tf.math.top_k(model.score_all(h_te), k).indices.numpy()
    return float((top == y_te[:, None]).any(1).mean())


order = np.random.default_rng(5)
perm, pos = order.permutation(len(h_tr)), 0
for it in range(1, UPDATES + 1):
    total = 0.0
    for _ in range(ACCUM):
        if pos + MICRO > len(perm):
            perm, pos = order.permutation(len(h_tr)), 0
        idx = perm[pos:pos + MICRO]
        pos += MICRO
        total += float(micro_step(h_tr[idx], y_tr[idx]))
    norm = update()
    if it % 40 == 0:
        print(f"update {it:4d} loss {total / ACCUM:.3f} |g| {float(norm):.2f} hit@10 {hit_rate():.3f}")

raw = hit_rate()
for a, p in zip(average, params):
    p.assign(a)
popular = np.argsort(-counts)[:10]
print(f"held-out hit@10: averaged weights {hit_rate():.3f}, last weights {raw:.3f}, "
      f"ten most popular songs {np.isin(y_te, popular).mean():.3f}")
model.save_weights("out/next_song.weights.h5")
