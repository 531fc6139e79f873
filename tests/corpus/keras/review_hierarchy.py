"""Hierarchical reviewer: words -> sentences -> document, in mixed precision."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(11)
keras.mixed_precision.set_global_policy("mixed_float16")

VOCAB, SENTS, WORDS = 120, 5, 10
POS, NEG, NOT = range(2, 12), range(12, 22), 22
MASK_BIAS = -1e9


def make_reviews(n, seed):
    rng = np.random.default_rng(seed)
    docs = np.zeros((n, SENTS, WORDS), "int32")
    stars = np.zeros(n, "float32")
    for i in range(n):
        score = 0
        while score == 0:
            docs[i] = 0
            for s in range(rng.integers(1, SENTS + 1)):
                length = rng.integers(4, WORDS + 1)
                words = rng.integers(23, VOCAB, length)
                tone = rng.choice([-1, 1])
                spots = rng.permutation(length)
                words[spots[0]] = rng.choice(POS if tone > 0 else NEG)
                if rng.random() < 0.25:
                    words[spots[1]] = NOT
                    tone = -tone
                docs[i, s, :length] = words
                score += tone
        stars[i] = score > 0
    return docs, stars


class WordAttention(layers.Layer):
    """Single-head self-attention over the words of each sentence."""

    def __init__(self, dim, **kw):
        super().__init__(**kw)
        self.dim = dim
        self.q, self.k, self.v = (layers.Dense(dim) for _ in range(3))
        self.mix = layers.Dense(dim, activation="relu")

    def call(self, x, mask):
        scores = tf.matmul(self.q(x), self.k(x), transpose_b=True)
        scores = scores / tf.cast(self.dim ** 0.5, scores.dtype)
        bias = tf.where(mask, 0.0, MASK_BIAS)[..., None, :]
        scores = scores + tf.cast(bias, scores.dtype)
        weights = tf.nn.softmax(scores, axis=-1)
        return self.mix(tf.concat([x, tf.matmul(weights, self.v(x))], -1))


def masked_mean(x, mask, axis):
    m = tf.cast(mask, x.dtype)[..., None]
    return tf.reduce_sum(x * m, axis) / tf.maximum(tf.reduce_sum(m, axis), 1)


class Reviewer(keras.Model):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, dim)
        self.words = WordAttention(dim)
        self.sentence = layers.Dense(dim, activation="relu")
        self.out = layers.Dense(1, dtype="float32")

    def call(self, docs):
        word_mask = tf.not_equal(docs, 0)
        h = self.words(self.embed(docs), word_mask)
        sents = self.sentence(masked_mean(h, word_mask, 2))
        doc = masked_mean(sents, tf.reduce_any(word_mask, -1), 1)
        return self.out(doc)


x_train, y_train = make_reviews(2500, 0)
x_test, y_test = make_reviews(600, 1)

model = Reviewer()
model.compile(optimizer=keras.optimizers.Adam(4e-3),
              loss=keras.losses.BinaryCrossentropy(from_logits=True),
              metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="acc")])
history = model.fit(x_train, y_train, batch_size=100, epochs=8, verbose=2,
                    validation_split=0.1)

loss, acc = model.evaluate(x_test, y_test, batch_size=200, verbose=0)
print("share of the larger class:", round(float(max(y_test.mean(), 1 - y_test.mean())), 3))
print("test loss %.4f, test accuracy %.3f" % (loss, acc))
