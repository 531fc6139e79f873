from collections import Counter

import numpy as np
import keras
from keras import layers
from keras.utils import pad_sequences

rng = np.random.default_rng(9)
keras.utils.set_random_seed(9)

WORDS = {
    0: ["refund", "invoice", "charged", "card", "payment", "receipt"],
    1: ["password", "login", "locked", "account", "email", "reset"],
    2: ["parcel", "courier", "delayed", "address", "tracking", "delivery"],
}
FILLER = ["hello", "please", "my", "the", "is", "i", "cannot", "help", "with", "today", "and", "again", "thanks"]
SHOP = [f"order{n}" for n in range(60)]


def make_ticket():
    kind = int(rng.integers(3))
    body = list(rng.choice(FILLER, 5)) + list(rng.choice(WORDS[kind], 3)) + [rng.choice(SHOP)]
    rng.shuffle(body)
    return [str(w) for w in body[: rng.integers(6, 10)]], kind


tickets, kinds = map(list, zip(*[make_ticket() for _ in range(1500)]))
kinds = np.array(kinds)

counts = Counter(w for t in tickets for w in t)
word_index = {w: i for i, (w, _) in enumerate(counts.most_common(), start=1)}
vocab_size = len(word_index)

sequences = [[word_index[w] for w in t] for t in tickets]
x = pad_sequences(sequences, maxlen=12, padding="post")

model = keras.Sequential([
    layers.Embedding(vocab_size, 16),
    layers.GlobalAveragePooling1D(),
    layers.Dense(24, activation="relu"),
    layers.Dense(3, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x[:1200], kinds[:1200], epochs=8, batch_size=32, validation_data=(x[1200:], kinds[1200:]), verbose=2)
model.summary()
