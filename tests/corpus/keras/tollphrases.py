"""Tiny decoder-only transformer that learns the phrases of a toll-gate announcer: 'gate 3 fee 1 2 open .'"""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
WORDS = ["<pad>", "gate", "fee", "open", "closed", "."] + [str(d) for d in range(10)]
ID = {w: i for i, w in enumerate(WORDS)}


def phrase():
    g, f = rng.integers(0, 10), rng.integers(0, 10)
    total = g + f
    state = "open" if f % 2 == 0 else "closed"
    return ["gate", str(g), "fee", str(f), state, str(total // 10), str(total % 10), "."]


stream = np.array([ID[w] for _ in range(2500) for w in phrase()], dtype="int32")
L = 16
starts = np.arange(0, len(stream) - L - 1, 8)
x = np.stack([stream[s:s + L] for s in starts])
y = np.stack([stream[s + 1:s + L + 1] for s in starts])
cut = int(len(x) * 0.9)


class TokenAndPosition(layers.Layer):
    def __init__(self, vocab, length, dim):
        super().__init__()
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(length, dim)

    def call(self, ids):
        return self.tok(ids) + self.pos(tf.range(tf.shape(ids)[1]))


def block(h, dim, heads):
    n = layers.LayerNormalization()(h)
    a = layers.MultiHeadAttention(heads, dim // heads)(n, n)
    h = h + a
    n = layers.LayerNormalization()(h)
    return h + layers.Dense(dim)(layers.Dense(4 * dim, activation="gelu")(n))


inp = keras.Input((None,), dtype="int32")
h = TokenAndPosition(len(WORDS), L, 48)(inp)
for _ in range(2):
    h = block(h, 48, 4)
out = layers.Dense(len(WORDS))(layers.LayerNormalization()(h))
lm = keras.Model(inp, out)
lm.compile(keras.optimizers.Adam(3e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
lm.fit(x[:cut], y[:cut], validation_data=(x[cut:], y[cut:]), batch_size=64, epochs=6, verbose=2)


def finish(prompts, n):
    ids = np.array(prompts, dtype="int32")
    for _ in range(n):
        logits = lm(ids).numpy()[:, -1]
        ids = np.concatenate([ids, logits.argmax(-1)[:, None].astype("int32")], axis=1)
    return ids


held = x[cut:][:, :8]
gen = finish(held[:, :4], 4)
print("prompt + answer:", " ".join(WORDS[i] for i in gen[0]))
print("phrases completed correctly:", float((gen == held).all(axis=1).mean()))
