from collections import Counter

import keras
import numpy as np
from keras import layers

GOOD = "tasty fresh friendly lovely crisp generous warm cosy quick superb".split()
BAD = "bland stale rude dirty soggy tiny cold noisy slow awful".split()
NEUTRAL = ("the a we had our table food waiter menu soup pasta evening place with was and for "
           "then ordered came back lunch dessert street bread").split()
NAMES = [f"{a}{b}" for a in ("mar", "lin", "tor", "bel", "san") for b in ("ia", "o", "e", "us", "in", "ka")]
MAX_LEN = 18


def compose(positive, rng):
    n = int(rng.integers(8, MAX_LEN))
    words = list(rng.choice(NEUTRAL + NAMES, size=n))
    mine, other = (GOOD, BAD) if positive else (BAD, GOOD)
    spots = rng.choice(n, size=4, replace=False)
    for k, spot in enumerate(spots):
        words[spot] = rng.choice(mine if k < 3 else other)
    return " ".join(words)


class WordIndex:
    """0 is kept for padding, known words are numbered from 1 by frequency."""

    def __init__(self):
        self.index = {}

    def fit(self, texts):
        counts = Counter(word for text in texts for word in text.split())
        for i, (word, _) in enumerate(counts.most_common(), start=1):
            self.index[word] = i
        return self

    def encode(self, texts, length):
        out = np.zeros((len(texts), length), dtype="int32")
        for row, text in enumerate(texts):
            ids = [self.index[w] for w in text.split() if w in self.index][:length]
            out[row, :len(ids)] = ids
        return out


def sentiment_model(vocab_size):
    inputs = keras.Input((MAX_LEN,), dtype="int32")
    x = layers.Embedding(vocab_size, 24, mask_zero=True)(inputs)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(16, activation="relu")(x)
    outputs = layers.Dense(1, activation="sigmoid")(x)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer=keras.optimizers.Adam(5e-3), loss="binary_crossentropy", metrics=["accuracy"])
    return model


def main():
    keras.utils.set_random_seed(9)
    rng = np.random.default_rng(9)
    labels = rng.integers(0, 2, size=1800)
    texts = [compose(bool(y), rng) for y in labels]
    train_texts, test_texts = texts[:1400], texts[1400:]
    y_train, y_test = labels[:1400].astype("float32"), labels[1400:].astype("float32")

    words = WordIndex().fit(train_texts)
    vocab_size = len(words.index)
    x_train = words.encode(train_texts, MAX_LEN)
    x_test = words.encode(test_texts, MAX_LEN)
    print(f"{vocab_size} rows in the embedding, {len(x_train)} reviews")

    model = sentiment_model(vocab_size)
    model.fit(x_train, y_train, epochs=8, batch_size=32, validation_split=0.1, verbose=2)
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    share = max(y_test.mean(), 1 - y_test.mean())
    print(f"test loss {loss:.4f} accuracy {acc:.4f} majority {share:.4f}")


if __name__ == "__main__":
    main()
