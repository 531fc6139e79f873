import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import math
import random

import numpy as np
import keras
from keras import layers

random.seed(5)
keras.utils.set_random_seed(5)

TAGS = ["O", "B-STREET", "I-STREET", "B-CITY", "B-NUM"]
TAG_ID = {t: i for i, t in enumerate(TAGS)}
STREETS = ["oak", "elm", "maple", "king", "queen", "church", "mill", "station", "river", "garden"]
KINDS = ["road", "lane", "street", "avenue"]
CITIES = ["leeds", "york", "bath", "oxford", "derby", "london", "king", "church"]
FILLER = ["please", "deliver", "the", "parcel", "to", "my", "flat", "before", "noon", "or",
          "call", "me", "when", "you", "arrive", "thanks", "garden", "mill", "road"]
MAX_LEN = 24


def make_sentence():
    words, tags = [], []
    for _ in range(random.randint(1, 6)):
        words.append(random.choice(FILLER)); tags.append("O")
    words.append("at"); tags.append("O")
    words.append(str(random.randint(1, 60))); tags.append("B-NUM")
    words.append(random.choice(STREETS)); tags.append("B-STREET")
    words.append(random.choice(KINDS)); tags.append("I-STREET")
    if random.random() < 0.7:
        words.append("in"); tags.append("O")
        words.append(random.choice(CITIES)); tags.append("B-CITY")
    for _ in range(random.randint(0, 7)):
        words.append(random.choice(FILLER)); tags.append("O")
    return words, tags


sentences = [make_sentence() for _ in range(2400)]
vocab = {"<pad>": 0, "<unk>": 1}
for words, _ in sentences[:2000]:
    for w in words:
        vocab.setdefault(w, len(vocab))


def encode(pairs):
    return [([vocab.get(w, 1) for w in ws], [TAG_ID[t] for t in ts]) for ws, ts in pairs]


class BucketBatches:
    """Groups sentences of similar length, short ones first."""

    def __init__(self, pairs, batch_size=32):
        self.pairs = sorted(pairs, key=lambda p: len(p[0]))
        self.batch_size = batch_size

    def __len__(self):
        return math.ceil(len(self.pairs) / self.batch_size)

    def stream(self):
        while True:
            for i in range(0, len(self.pairs), self.batch_size):
                yield self.collate(self.pairs[i:i + self.batch_size])

    def collate(self, chunk):
        width = MAX_LEN
        x = np.zeros((len(chunk), width), "int32")
        y = np.zeros((len(chunk), width), "int32")
        w = np.zeros((len(chunk), width), "float32")
        for r, (ids, tags) in enumerate(chunk):
            x[r, :len(ids)] = ids
            y[r, :len(tags)] = tags
            w[r, :len(ids)] = 1.0
        return x, y, w


def build():
    inp = keras.Input((None,), dtype="int32")
    h = layers.Embedding(len(vocab), 32)(inp)
    h = layers.Conv1D(64, 3, padding="same", activation="relu")(h)
    h = layers.Conv1D(64, 3, padding="same", activation="relu")(h)
    out = layers.Dense(len(TAGS), activation="softmax")(h)
    return keras.Model(inp, out)


train = BucketBatches(encode(sentences[:2000]))
test = BucketBatches(encode(sentences[2000:]))

model = build()
model.compile(optimizer=keras.optimizers.Adam(2e-3),
              loss="sparse_categorical_crossentropy",
              weighted_metrics=["accuracy"])
history = model.fit(train.stream(), steps_per_epoch=len(train), epochs=3, verbose=2)

right = total = ent_right = ent_total = 0
for i in range(0, len(test.pairs), 32):
    x, y, w = test.collate(test.pairs[i:i + 32])
    pred = model.predict_on_batch(x).argmax(-1)
    keep = w > 0
    right += (pred == y)[keep].sum(); total += keep.sum()
    ent = keep & (y > 0)
    ent_right += (pred == y)[ent].sum(); ent_total += ent.sum()
print(f"final train loss {history.history['loss'][-1]:.4f}")
print(f"test token accuracy {right / total:.4f}  entity-token accuracy {ent_right / ent_total:.4f}")
