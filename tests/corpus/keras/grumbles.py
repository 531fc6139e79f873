import random

import keras
import numpy as np
from keras import layers

keras.utils.set_random_seed(1)
rnd = random.Random(1)

good = ["lovely", "quick", "friendly", "clean", "tasty", "perfect", "warm"]
bad = ["rude", "slow", "dirty", "cold", "broken", "stale", "awful"]
things = ["staff", "room", "soup", "bus", "queue", "coffee", "shower", "driver", "bed"]


def sentence():
    label = rnd.randint(0, 1)
    words = ["the", rnd.choice(things), "was", rnd.choice(good if label else bad)]
    if rnd.random() < 0.5:
        words = ["honestly"] + words
    if rnd.random() < 0.5:
        words += ["and", "we", "told", "them"]
    if rnd.random() < 0.3:
        words[words.index("was")] = "wasnt"
        label = 1 - label
    return words, label


rows = [sentence() for _ in range(3000)]
vocab = {w: i + 1 for i, w in enumerate(sorted({w for ws, _ in rows for w in ws}))}
seqs = [[vocab[w] for w in ws] for ws, _ in rows]
x = keras.utils.pad_sequences(seqs, maxlen=60, padding="post")
y = np.array([label for _, label in rows])

model = keras.Sequential([
    layers.Input(shape=(60,)),
    layers.Embedding(len(vocab) + 1, 32),
    layers.LSTM(32),
    layers.Dropout(0.2),
    layers.Dense(1, activation="sigmoid"),
])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss="binary_crossentropy", metrics=["accuracy"])
model.summary()

model.fit(x[:2500], y[:2500], batch_size=64, epochs=6, validation_split=0.1, verbose=2)
loss, acc = model.evaluate(x[2500:], y[2500:], verbose=0)
print("test loss", round(loss, 3), "test accuracy", round(acc, 3))
