"""Eleven lockers each hold a code; the last token asks for one of them."""
import math

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)

LOCKERS, CODES, SLOTS = 24, 10, 11
NO_CODE = CODES


def sample(n):
    keys = np.stack([rng.permutation(LOCKERS)[:SLOTS] for _ in range(n)])
    codes = rng.integers(CODES, size=(n, SLOTS))
    ask = rng.integers(SLOTS, size=n)
    rows = np.arange(n)
    k = np.concatenate([keys, keys[rows, ask][:, None]], axis=1).astype("int32")
    c = np.concatenate([codes, np.full((n, 1), NO_CODE)], axis=1).astype("int32")
    return (k, c), codes[rows, ask].astype("int32")


class SelfAttention(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.q, self.k, self.v = layers.Dense(dim), layers.Dense(dim), layers.Dense(dim)
        self.o = layers.Dense(dim)

    def split(self, x):
        b, t = tf.shape(x)[0], x.shape[1]
        return tf.transpose(tf.reshape(x, (b, t, self.heads, self.width)), (0, 2, 1, 3))

    def merge(self, x):
        b, t = tf.shape(x)[0], x.shape[2]
        return tf.reshape(tf.transpose(x, (0, 2, 1, 3)), (b, t, self.heads * self.width))

    def call(self, x):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        w = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / math.sqrt(self.width))
        return self.o(self.merge(tf.matmul(w, v)))


def build(dim=64, heads=4):
    k_in = keras.Input((SLOTS + 1,), dtype="int32")
    c_in = keras.Input((SLOTS + 1,), dtype="int32")
    x = layers.Add()([layers.Embedding(LOCKERS, dim)(k_in), layers.Embedding(CODES + 1, dim)(c_in)])
    for _ in range(2):
        x = layers.LayerNormalization()(x + SelfAttention(dim, heads)(x))
        x = layers.LayerNormalization()(x + layers.Dense(dim)(layers.Dense(2 * dim, activation="relu")(x)))
    return keras.Model([k_in, c_in], layers.Dense(CODES)(x[:, -1]))


(xk, xc), y = sample(16000)
(vk, vc), vy = sample(1500)
model = build()
model.compile(keras.optimizers.Adam(2e-3),
              keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit([xk, xc], y, validation_data=([vk, vc], vy), epochs=10, batch_size=128, verbose=2)
