"""Translates digits into English number words: '2 7 4' -> 'two hundred seventy four'."""
import keras
import numpy as np
from keras import layers

ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
WORDS = ["<pad>", "<bos>", "<eos>", "hundred"] + ONES + TENS[2:]
ID = {w: i for i, w in enumerate(WORDS)}
SRC_LEN, TGT_LEN, HIDDEN = 3, 6, 96


def spell(n):
    out = []
    if n >= 100:
        out += [ONES[n // 100], "hundred"]
        n %= 100
        if n == 0:
            return out
    if n < 20:
        return out + [ONES[n]]
    return out + [TENS[n // 10]] + ([ONES[n % 10]] if n % 10 else [])


def encode(numbers):
    src = np.array([[int(c) + 1 for c in f"{n:03d}"] for n in numbers])
    tgt = np.zeros((len(numbers), TGT_LEN), "int64")
    for row, n in zip(tgt, numbers):
        ids = [ID["<bos>"]] + [ID[w] for w in spell(n)] + [ID["<eos>"]]
        row[: len(ids)] = ids
    return src, tgt


def build():
    src = keras.Input((SRC_LEN,), name="src")
    dec = keras.Input((None,), name="dec")
    state = layers.GRU(HIDDEN)(layers.Embedding(11, 32)(src))
    h = layers.Embedding(len(WORDS), 32, mask_zero=True)(dec)
    h = layers.GRU(HIDDEN, return_sequences=True)(h, initial_state=state)
    return keras.Model([src, dec], layers.Dense(len(WORDS), activation="softmax")(h))


def translate(model, src):
    out = np.full((len(src), 1), ID["<bos>"])
    for _ in range(TGT_LEN - 1):
        step = model.predict([src, out], verbose=0, batch_size=256)[:, -1].argmax(-1)
        out = np.concatenate([out, step[:, None]], axis=1)
    sentences = []
    for row in out[:, 1:]:
        words = [WORDS[i] for i in row]
        sentences.append(" ".join(words[: words.index("<eos>")] if "<eos>" in words else words))
    return sentences


keras.utils.set_random_seed(2)
numbers = np.random.default_rng(2).permutation(1000)
train, test = numbers[:850], numbers[850:]
src, tgt = encode(train)
test_src, test_tgt = encode(test)

model = build()
model.compile(keras.optimizers.Adam(4e-3), "sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
model.fit(
    [src, tgt[:, 1:]], tgt[:, 1:],
    sample_weight=(tgt[:, 1:] > 0).astype("float32"),
    batch_size=32, epochs=25, verbose=2,
)
said = translate(model, test_src)
right = np.mean([s == " ".join(spell(n)) for s, n in zip(said, test)])
for n, s in list(zip(test, said))[:5]:
    print(n, "->", s)
print(f"exact match on unseen numbers: {right:.3f}")
