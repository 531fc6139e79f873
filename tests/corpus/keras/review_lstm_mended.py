"""Sentiment of short product reviews with an LSTM (toy corpus)."""
import random
import numpy as np
import keras
from keras.layers import LSTM, Dense, Embedding

random.seed(5)
keras.utils.set_random_seed(5)

POS = "great lovely excellent sturdy perfect superb".split()
NEG = "awful flimsy terrible useless poor dreadful".split()
FILL = "the a this it is was product box colour i bought for my and of very really one two days".split()
MAXLEN = 80


def review():
    label = random.randint(0, 1)
    words = random.choices(FILL, k=random.randint(4, 14))
    for _ in range(random.randint(1, 2)):
        negated = random.random() < 0.3
        pool = (POS if label else NEG) if not negated else (NEG if label else POS)
        at = random.randint(0, len(words))
        words[at:at] = (["not"] if negated else []) + [random.choice(pool)]
    return " ".join(words), label


texts, labels = zip(*[review() for _ in range(1900)])
labels = np.array(labels)

vocab = {w: i + 1 for i, w in enumerate(sorted({w for t in texts for w in t.split()}))}
ids = [[vocab[w] for w in t.split()] for t in texts]
X = keras.utils.pad_sequences(ids, maxlen=MAXLEN, padding="post")

split = 1500
model = keras.Sequential(
    [
        keras.Input((MAXLEN,), dtype="int32"),
        Embedding(len(vocab) + 1, 16, mask_zero=True),
        LSTM(16),
        Dense(1, activation="sigmoid"),
    ]
)
model.compile(loss="binary_crossentropy", optimizer=keras.optimizers.Adam(1e-2), metrics=["accuracy"])
model.summary()

model.fit(
    X[:split],
    labels[:split],
    validation_data=(X[split:], labels[split:]),
    epochs=5,
    batch_size=50,
    verbose=2,
)

for t in ["it was great", "the product is not great", "this box is awful", "not awful"]:
    row = keras.utils.pad_sequences([[vocab[w] for w in t.split()]], maxlen=MAXLEN, padding="post")
    print(f"{t:30s} {float(model.predict(row, verbose=0)[0, 0]):.2f}")
