import random

import numpy as np
import tensorflow as tf
import keras
from keras import layers

PREFIXES = ["un", "re", "over", "mis", "pre"]
STEMS = ["play", "cook", "read", "lock", "write", "load", "build", "heat", "turn", "paint", "view", "count"]
SUFFIXES = ["able", "ing", "er", "ed", "ment", "s"]
TAGS = {"P": 0, "S": 1, "X": 2}
IGNORE = -1
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def word(rng):
    parts = [(rng.choice(PREFIXES), "P") for _ in range(rng.choice([0, 1, 1, 2]))]
    parts += [(rng.choice(STEMS), "S") for _ in range(rng.choice([1, 1, 2]))]
    parts += [(rng.choice(SUFFIXES), "X") for _ in range(rng.choice([0, 1, 1]))]
    ids = [ALPHABET.index(c) + 1 for text, _ in parts for c in text]
    tags = [TAGS[t] for text, t in parts for _ in text]
    return ids, tags


def dataset(n, seed, shuffle):
    rng = random.Random(seed)
    words = [word(rng) for _ in range(n)]
    ds = tf.data.Dataset.from_generator(
        lambda: iter(words),
        output_signature=(tf.TensorSpec((None,), tf.int32), tf.TensorSpec((None,), tf.int32)),
    )
    if shuffle:
        ds = ds.shuffle(n, seed=seed)
    return ds.bucket_by_sequence_length(
        lambda ids, tags: tf.shape(ids)[0],
        bucket_boundaries=[8, 13, 18],
        bucket_batch_sizes=[96, 48, 32, 16],
        padding_values=(0, IGNORE),
    )


class TagAccuracy(keras.metrics.Metric):
    def __init__(self, name="tag_acc"):
        super().__init__(name=name)
        self.hit = self.add_weight(name="hit", initializer="zeros")
        self.seen = self.add_weight(name="seen", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        keep = tf.cast(tf.not_equal(y_true, IGNORE), tf.float32)
        ok = tf.cast(tf.equal(tf.argmax(y_pred, -1, output_type=tf.int32), tf.cast(y_true, tf.int32)), tf.float32)
        self.hit.assign_add(tf.reduce_sum(ok * keep))
        self.seen.assign_add(tf.reduce_sum(keep))

    def result(self):
        return self.hit / self.seen


keras.utils.set_random_seed(12)
inputs = keras.Input((None,), dtype="int32")
h = layers.Embedding(len(ALPHABET) + 1, 24, mask_zero=True)(inputs)
h = layers.Bidirectional(layers.LSTM(32, return_sequences=True))(h)
h = layers.Dropout(0.2)(h)
outputs = layers.Dense(len(TAGS))(h)
model = keras.Model(inputs, outputs)
model.compile(
    optimizer=keras.optimizers.Nadam(4e-3, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=IGNORE),
    metrics=[TagAccuracy()],
)
model.fit(dataset(2500, 1, True), validation_data=dataset(500, 2, False), epochs=6, verbose=2)
