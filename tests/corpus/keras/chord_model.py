"""Tiny causal transformer over chord symbols, with input and output embeddings shared.

Learning rate follows "Attention is all you need"; the corpus comes from a
second-order grammar so its true entropy is known.
"""
import math

import numpy as np
import tensorflow as tf
import keras
from keras import layers, ops

VOCAB, CTX, DIM, HEADS = 24, 32, 48, 4
EPOCHS, BATCH = 9, 32


class NoamSchedule(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, dim, warmup, factor):
        self.dim, self.warmup, self.factor = dim, warmup, factor

    def __call__(self, step):
        step = tf.cast(step, tf.float32)
        decay = tf.math.rsqrt(step)
        ramp = step * self.warmup ** -1.5
        return self.factor * tf.math.rsqrt(float(self.dim)) * tf.math.minimum(decay, ramp)

    def get_config(self):
        return {"dim": self.dim, "warmup": self.warmup, "factor": self.factor}


class TiedEmbedding(layers.Layer):
    """Token table used for the lookup and, transposed, for the logits."""

    def __init__(self, vocab, dim, **kw):
        super().__init__(**kw)
        self.vocab, self.dim = vocab, dim
        self.table = self.add_weight(name="table", shape=(vocab, dim),
                                     initializer=keras.initializers.RandomNormal(stddev=dim ** -.5))
        self.bias = self.add_weight(name="bias", shape=(vocab,), initializer="zeros")
        self.pos = self.add_weight(name="pos", shape=(CTX, dim),
                                   initializer=keras.initializers.RandomNormal(stddev=.02))

    def call(self, tokens):
        return ops.take(self.table, tokens, axis=0) * math.sqrt(self.dim) + self.pos

    def logits(self, h):
        return ops.matmul(h, ops.transpose(self.table)) + self.bias


class Block(layers.Layer):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.n1 = layers.LayerNormalization(epsilon=1e-5)
        self.n2 = layers.LayerNormalization(epsilon=1e-5)
        self.att = layers.MultiHeadAttention(HEADS, DIM // HEADS)
        self.up = layers.Dense(3 * DIM, activation="gelu")
        self.down = layers.Dense(DIM, kernel_initializer="zeros")

    def call(self, x):
        y = self.n1(x)
        x = x + self.att(y, y, use_causal_mask=True)
        return x + self.down(self.up(self.n2(x)))


class ChordLM(keras.Model):
    def __init__(self, depth=1):
        super().__init__()
        self.emb = TiedEmbedding(VOCAB, DIM)
        self.blocks = [Block() for _ in range(depth)]
        self.norm = layers.LayerNormalization(epsilon=1e-5)

    def call(self, tokens):
        h = self.emb(tokens)
        for b in self.blocks:
            h = b(h)
        return self.emb.logits(self.norm(h))


def grammar(rng):
    """P[a, b, c]: a function of the last chord, shifted by the chord before."""
    base = rng.dirichlet(np.full(VOCAB, .08), size=VOCAB)
    mode = rng.integers(0, 3, VOCAB)
    p = np.stack([np.stack([np.roll(base[b], 5 * mode[a]) for b in range(VOCAB)])
                  for a in range(VOCAB)])
    return .97 * p + .03 / VOCAB


def sample(p, n, rng):
    out = np.zeros((n, CTX + 1), "int32")
    out[:, :2] = rng.integers(0, VOCAB, (n, 2))
    for t in range(2, CTX + 1):
        cdf = p[out[:, t - 2], out[:, t - 1]].cumsum(1)
        out[:, t] = (cdf < rng.random((n, 1))).sum(1).clip(0, VOCAB - 1)
    return out


def main():
    keras.utils.set_random_seed(40)
    rng = np.random.default_rng(40)
    p = grammar(rng)
    train, test = sample(p, 2000, rng), sample(p, 300, rng)

    model = ChordLM()
    sched = NoamSchedule(DIM, warmup=80, factor=.6)
    model.compile(keras.optimizers.Adam(sched, beta_1=.9, beta_2=.98, epsilon=1e-9),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(train[:, :-1], train[:, 1:], batch_size=BATCH, epochs=EPOCHS, verbose=2,
              validation_data=(test[:, :-1], test[:, 1:]))

    logits = model.predict(test[:, :-1], batch_size=100, verbose=0)
    logp = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    nll = -np.take_along_axis(logp, test[:, 1:, None], -1)[:, 1:].mean()
    truth = -np.log(p[test[:, :-2], test[:, 1:-1], test[:, 2:]]).mean()
    uni = np.bincount(train.ravel(), minlength=VOCAB) / train.size
    print(f"test perplexity {math.exp(nll):.2f}   grammar itself {math.exp(truth):.2f}   "
          f"unigram {math.exp(-np.log(uni[test[:, 2:]]).mean()):.2f}")


if __name__ == "__main__":
    main()
