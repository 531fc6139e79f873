import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)

# 60 readers, 80 titles, 6 seasons: how long a reader stays with a title
FIELDS = (60, 80, 6)
OFFSETS = np.cumsum((0,) + FIELDS[:-1])
TOTAL = sum(FIELDS)

hidden = [rng.normal(size=(n, 4)) for n in FIELDS]
bias = rng.normal(scale=0.3, size=TOTAL)


def make(n):
    ids = np.stack([rng.integers(0, f, n) for f in FIELDS], axis=1)
    a, b, c = (hidden[k][ids[:, k]] for k in range(3))
    pairs = (a * b + a * c + b * c).sum(1) * 0.5
    y = pairs + bias[ids + OFFSETS].sum(1) + rng.normal(scale=0.2, size=n)
    return (ids + OFFSETS).astype("int32"), y.astype("float32")[:, None]


class PairwiseInteraction(layers.Layer):
    def __init__(self, vocabulary, width, **kwargs):
        super().__init__(**kwargs)
        self.factors = tf.Variable(tf.random.normal([vocabulary, width], stddev=0.1), trainable=True, name="factors")

    def call(self, ids):
        v = tf.gather(self.factors, ids)
        square_of_sum = tf.square(tf.reduce_sum(v, axis=1))
        sum_of_squares = tf.reduce_sum(tf.square(v), axis=1)
        return 0.5 * tf.reduce_sum(square_of_sum - sum_of_squares, axis=1, keepdims=True)


class FactorizationMachine(keras.Model):
    def __init__(self, vocabulary, width=8):
        super().__init__()
        self.linear = layers.Embedding(vocabulary, 1, embeddings_initializer="zeros")
        self.interaction = PairwiseInteraction(vocabulary, width)
        self.offset = layers.Dense(1)

    def call(self, ids):
        first_order = tf.reduce_sum(self.linear(ids), axis=1)
        return self.offset(first_order) + self.interaction(ids)


x_train, y_train = make(12000)
x_test, y_test = make(2000)

model = FactorizationMachine(TOTAL)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="mse", metrics=["mae"])
model.fit(x_train, y_train, batch_size=64, epochs=12, validation_split=0.1, verbose=2)

pred = model.predict(x_test, verbose=0)
r2 = 1 - np.mean((y_test - pred) ** 2) / np.var(y_test)
print(f"test R2 {r2:.3f}")
