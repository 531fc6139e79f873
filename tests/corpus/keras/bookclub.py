import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import pandas as pd
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

np.random.seed(0)
tf.random.set_seed(0)

# reader_id and book_id as they come from the library's export
n_readers, n_books, n_rows = 120, 80, 6000
taste = np.random.normal(size=(n_readers + 1, 3))
flavour = np.random.normal(size=(n_books + 1, 3))
df = pd.DataFrame({
    "reader_id": np.random.randint(1, n_readers + 1, n_rows),
    "book_id": np.random.randint(1, n_books + 1, n_rows),
})
score = (taste[df.reader_id] * flavour[df.book_id]).sum(axis=1)
df["rating"] = np.clip(3 + 0.8 * score + np.random.normal(0, 0.3, n_rows), 1, 5)
df = df.drop_duplicates(["reader_id", "book_id"]).sample(frac=1, random_state=0)

cut = int(0.85 * len(df))
train, test = df.iloc[:cut], df.iloc[cut:]
num_readers = df.reader_id.nunique()
num_books = df.book_id.nunique()
print(f"{num_readers} readers, {num_books} books, {len(train)} training ratings")


class Recommender(keras.Model):
    def __init__(self, num_readers, num_books, dim=8):
        super().__init__()
        self.reader_vec = layers.Embedding(num_readers, dim)
        self.book_vec = layers.Embedding(num_books, dim)
        self.reader_bias = layers.Embedding(num_readers, 1)
        self.book_bias = layers.Embedding(num_books, 1)
        self.mean = self.add_weight(shape=(), initializer="zeros", name="mean")

    def call(self, inputs):
        reader, book = inputs["reader_id"], inputs["book_id"]
        dot = tf.reduce_sum(self.reader_vec(reader) * self.book_vec(book), axis=1, keepdims=True)
        return dot + self.reader_bias(reader) + self.book_bias(book) + self.mean


def dataset(frame, training):
    features = {"reader_id": frame.reader_id.values, "book_id": frame.book_id.values}
    ds = tf.data.Dataset.from_tensor_slices((features, frame.rating.values.astype("float32")[:, None]))
    if training:
        ds = ds.shuffle(len(frame))
    return ds.batch(64).prefetch(tf.data.AUTOTUNE)


model = Recommender(num_readers, num_books)
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss="mse", metrics=["mae"])
model.fit(dataset(train, True), validation_data=dataset(test, False), epochs=10, verbose=2)

mse, mae = model.evaluate(dataset(test, False), verbose=0)
print(f"test rmse {mse ** 0.5:.3f}, std of ratings {test.rating.std():.3f}")
