"""'twenty past four in the afternoon' -> 16:20, character decoder."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import keras
from keras import layers

HOURS = "twelve one two three four five six seven eight nine ten eleven".split()
SPOKEN = {0: "", 5: "five past", 10: "ten past", 15: "quarter past", 20: "twenty past", 25: "twenty five past", 30: "half past",
          35: "twenty five to", 40: "twenty to", 45: "quarter to", 50: "ten to", 55: "five to"}
OPENERS = ["it is", "we meet at", "at", "around", "the train leaves at", "come by at"]
CHARS = "0123456789:"
BOS = len(CHARS)
T_OUT = 5


def phrase(hour, minute, rng):
    said = (hour + 1) % 24 if minute > 30 else hour
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 18 else "at night"
    words = [rng.choice(OPENERS), SPOKEN[minute], HOURS[said % 12], part]
    return " ".join(w for w in words if w)


def corpus(n, rng):
    texts, targets = [], []
    for _ in range(n):
        h, m = int(rng.integers(24)), int(rng.integers(12)) * 5
        texts.append(phrase(h, m, rng))
        targets.append([CHARS.index(c) for c in f"{h:02d}:{m:02d}"])
    return texts, np.array(targets)


class WordCoder:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.index = {w: i + 1 for i, w in enumerate(words)}
        self.length = max(len(t.split()) for t in texts)

    def __call__(self, texts):
        out = np.zeros((len(texts), self.length), dtype="int32")
        for r, t in enumerate(texts):
            ids = [self.index.get(w, 0) for w in t.split()][: self.length]
            out[r, : len(ids)] = ids
        return out


def build(n_words, src_len, units=80):
    src = keras.Input((src_len,), dtype="int32")
    dec = keras.Input((None,), dtype="int32")
    e = layers.Embedding(n_words + 1, 32, mask_zero=True)(src)
    _, state = layers.GRU(units, return_state=True)(e)
    d = layers.Embedding(len(CHARS) + 1, 16)(dec)
    h = layers.GRU(units, return_sequences=True)(d, initial_state=state)
    return keras.Model([src, dec], layers.Dense(len(CHARS))(h))


def decoder_side(targets):
    start = np.full((len(targets), 1), BOS)
    framed = np.concatenate([start, targets], axis=1)
    return framed[:, 1:]


def greedy(model, src):
    out = np.full((len(src), 1), BOS)
    for _ in range(T_OUT):
        logits = model.predict_on_batch([src, out])
        out = np.concatenate([out, logits[:, -1].argmax(-1)[:, None]], axis=1)
    return out[:, 1:]


def main():
    keras.utils.set_random_seed(5)
    rng = np.random.default_rng(5)
    texts, y = corpus(5000, rng)
    texts_v, y_v = corpus(600, rng)
    coder = WordCoder(texts)
    x, x_v = coder(texts), coder(texts_v)
    model = build(len(coder.index), coder.length)
    model.compile(keras.optimizers.Adam(4e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    model.fit([x, decoder_side(y)], y, validation_data=([x_v, decoder_side(y_v)], y_v), epochs=12, batch_size=64, verbose=2)
    guess = greedy(model, x_v)
    print(f"whole clock times right: {(guess == y_v).all(1).mean():.3f}")
    for t, g in list(zip(texts_v, guess))[:4]:
        print(f"  {t:55s} -> {''.join(CHARS[c] if c < BOS else '?' for c in g)}")


if __name__ == "__main__":
    main()
