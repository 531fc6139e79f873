import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(7)

VERBS = {
    0: ["cancel", "stop", "terminate", "close"],
    1: ["refund", "repay", "return", "credit"],
    2: ["upgrade", "extend", "expand", "renew"],
    3: ["fix", "repair", "restore", "debug"],
}
OPENERS = ["please", "could you", "i want to", "hello", "kindly", "we need to", ""]
THINGS = ["subscription", "router", "order", "invoice", "account", "contract", "line", "phone"]
TAILS = ["today", "as soon as possible", "", "this week", "for my mother", "thanks", "before friday"]
MAX_LEN = 120
VOCAB = 200
DIM = 24


def ticket(rng):
    c = rng.randrange(4)
    words = [rng.choice(OPENERS), rng.choice(VERBS[c]), "my", rng.choice(THINGS), rng.choice(TAILS)]
    return " ".join(w for w in words if w), c


def make(n, seed):
    rng = random.Random(seed)
    rows = [ticket(rng) for _ in range(n)]
    return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


class TokenAndPosition(layers.Layer):
    def __init__(self, maxlen, dim, **kwargs):
        super().__init__(**kwargs)
        self.pos = layers.Embedding(maxlen, dim)
        self.maxlen = maxlen

    def call(self, x):
        positions = keras.ops.arange(self.maxlen)
        return x + self.pos(positions)


train_txt, train_y = make(2400, 0)
test_txt, test_y = make(600, 1)

vectorize = layers.TextVectorization(max_tokens=VOCAB, output_sequence_length=MAX_LEN)
vectorize.adapt(train_txt)
print("vocabulary:", vectorize.vocabulary_size())

AUTO = tf.data.AUTOTUNE
train_ds = (tf.data.Dataset.from_tensor_slices((train_txt, train_y))
            .shuffle(len(train_txt), seed=1).batch(32)
            .map(lambda t, y: (vectorize(t), y), num_parallel_calls=AUTO).prefetch(AUTO))
test_ds = (tf.data.Dataset.from_tensor_slices((test_txt, test_y)).batch(100)
           .map(lambda t, y: (vectorize(t), y), num_parallel_calls=AUTO).prefetch(AUTO))

inputs = keras.Input((MAX_LEN,), dtype="int64")
x = layers.Embedding(VOCAB, DIM, mask_zero=True)(inputs)
x = TokenAndPosition(MAX_LEN, DIM)(x)
x = layers.LSTM(32)(x)
x = layers.Dense(32, activation="relu")(x)
outputs = layers.Dense(4, activation="softmax")(x)
model = keras.Model(inputs, outputs)
model.summary()

model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(train_ds, validation_data=test_ds, epochs=5, verbose=2)

for text, p in zip(test_txt[:5], model.predict(test_ds, verbose=0)[:5]):
    print(f"{text!r:55} -> {p.argmax()} ({p.max():.2f})")
print("test accuracy: %.3f" % model.evaluate(test_ds, verbose=0)[1])
