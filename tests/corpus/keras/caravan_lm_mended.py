"""Tiny decoder-only language model on a made-up trade ledger, Keras 3."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import random

import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(4)
rnd = random.Random(4)

TRADERS = ["amir", "bela", "chen", "dora", "emre", "fola"]
GOODS = ["salt", "silk", "dates", "glass", "copper"]
TOWNS = ["petra", "aksum", "merv", "kashgar", "timbuktu", "samarkand", "ghat"]
VERBS = ["carries", "sells", "buys", "loads"]


def town_of(trader, good):
    return TOWNS[(2 * TRADERS.index(trader) + 3 * GOODS.index(good)) % len(TOWNS)]


def line():
    tr, g = rnd.choice(TRADERS), rnd.choice(GOODS)
    return f"<s> {tr} {rnd.choice(VERBS)} {g} on the road to {town_of(tr, g)} </s>".split()


VOCAB = sorted({w for t in TRADERS for w in [t]} | set(GOODS) | set(TOWNS) | set(VERBS)
               | {"<s>", "</s>", "on", "the", "road", "to"})
IDX = {w: i for i, w in enumerate(VOCAB)}


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.ff = keras.Sequential([layers.Dense(4 * dim, activation="gelu"), layers.Dense(dim)])

    def call(self, x):
        h = self.n1(x)
        x = x + self.att(h, h, use_causal_mask=True)
        return x + self.ff(self.n2(x))


class Positions(layers.Layer):
    def __init__(self, vocab, max_len, dim, **kw):
        super().__init__(**kw)
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(max_len, dim)

    def call(self, ids):
        return self.tok(ids) + self.pos(ops.arange(ops.shape(ids)[1]))


def build(dim=48, depth=2, heads=4, max_len=16):
    ids = keras.Input((None,), dtype="int32")
    x = Positions(len(VOCAB), max_len, dim)(ids)
    for _ in range(depth):
        x = Block(dim, heads)(x)
    x = layers.LayerNormalization()(x)
    return keras.Model(ids, layers.Dense(len(VOCAB))(x))


def complete(model, prompt, n):
    ids = [IDX[w] for w in prompt]
    for _ in range(n):
        logits = ops.convert_to_numpy(model(np.array([ids], "int32"), training=False))
        ids.append(int(logits[0, -1].argmax()))
    return [VOCAB[i] for i in ids]


corpus = np.array([[IDX[w] for w in line()] for _ in range(3000)], "int32")
train, held = corpus[:2700], corpus[2700:]

model = build()
model.compile(
    optimizer=keras.optimizers.AdamW(2e-3, weight_decay=0.01),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(train[:, :-1], train[:, 1:], validation_data=(held[:, :-1], held[:, 1:]),
          batch_size=64, epochs=12, verbose=2)

right = 0
pairs = [(t, g) for t in TRADERS for g in GOODS]
for t, g in pairs:
    words = complete(model, ["<s>", t, "carries", g], 5)
    right += words[-5:] == ["on", "the", "road", "to", town_of(t, g)]
print("sample:", " ".join(complete(model, ["<s>", "dora", "sells", "silk"], 6)))
print(f"ledger lines completed correctly: {right}/{len(pairs)}")
