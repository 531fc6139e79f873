import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(23)
READERS, BOOKS, SHELVES, DIM = 400, 300, 12, 16
rng = np.random.default_rng(23)
shelf_of = rng.integers(0, SHELVES, BOOKS)
taste = np.array([rng.choice(SHELVES, 2, replace=False) for _ in range(READERS)])


def loans(n):
    reader = rng.integers(0, READERS, n)
    book = np.empty(n, dtype="int64")
    for i, r in enumerate(reader):
        if rng.uniform() < 0.1:
            book[i] = rng.integers(BOOKS)
        else:
            book[i] = rng.choice(np.flatnonzero(shelf_of == taste[r][rng.integers(2)]))
    return reader, book


def tower(size, name):
    ids = keras.Input((), dtype="int32")
    v = layers.Embedding(size, DIM, embeddings_initializer="normal")(ids)
    v = layers.Dense(DIM)(v)
    return keras.Model(ids, layers.UnitNormalization()(v), name=name)


class InBatchScores(layers.Layer):
    def __init__(self, temperature=0.1, **kwargs):
        super().__init__(**kwargs)
        self.temperature = temperature

    def call(self, left, right):
        return ops.matmul(left, ops.transpose(right)) / self.temperature

    def compute_output_shape(self, left_shape, right_shape):
        return (left_shape[0], right_shape[0])


def retrieval_loss(_, scores):
    rows = ops.arange(ops.shape(scores)[0])
    log_p = ops.log_softmax(scores, axis=-1)
    return -ops.mean(ops.sum(log_p * ops.one_hot(rows, ops.shape(scores)[1]), axis=-1))


reader_tower, book_tower = tower(READERS, "reader"), tower(BOOKS, "book")
r_in, b_in = keras.Input((), dtype="int32"), keras.Input((), dtype="int32")
model = keras.Model([r_in, b_in], InBatchScores()(reader_tower(r_in), book_tower(b_in)))
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=retrieval_loss)

readers, books = loans(12000)
model.fit([readers, books], np.zeros(len(readers)), batch_size=128, epochs=14, verbose=2)

r_vec = reader_tower.predict(np.arange(READERS), verbose=0)
b_vec = book_tower.predict(np.arange(BOOKS), verbose=0)
top = np.argsort(-r_vec @ b_vec.T, axis=1)[:, :10]
hit = np.mean([[shelf_of[b] in taste[r] for b in top[r]] for r in range(READERS)])
print(f"top ten from a liked shelf: {hit:.3f} (random {2 / SHELVES:.3f})")
