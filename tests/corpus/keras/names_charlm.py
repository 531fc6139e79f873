"""Character level language model: make up village names with a GRU."""
import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)

starts = ["ober", "unter", "neu", "alt", "klein", "gross", "nieder", "hohen", "bad"]
stems = ["wald", "stein", "berg", "brunn", "eich", "linden", "moos", "rott", "birk", "jung", "quell", "zell"]
ends = ["heim", "dorf", "hausen", "ingen", "bach", "feld", "kirchen", "au", "hof", "weiler"]
names = [rng.choice(starts) * (rng.random() < 0.6) + rng.choice(stems) + rng.choice(ends)
         for _ in range(3000)]

# "<" opens and ">" closes a name
corpus = ["<" + n + ">" for n in names]
maxlen = max(len(c) for c in corpus)

chars = sorted(set("".join(corpus)))
char_to_id = {c: i for i, c in enumerate(chars, start=1)}
id_to_char = {i: c for c, i in char_to_id.items()}
vocab_size = len(chars)
print(len(corpus), "names,", len(chars), "characters, longest", maxlen)

ids = np.zeros((len(corpus), maxlen), dtype="int32")
for row, text in enumerate(corpus):
    ids[row, : len(text)] = [char_to_id[c] for c in text]

x, y = ids[:, :-1], ids[:, 1:]
weight = (y != 0).astype("float32")      # padding does not count

model = keras.Sequential([
    layers.Input((maxlen - 1,), dtype="int32"),
    layers.Embedding(vocab_size, 24),
    layers.GRU(64, return_sequences=True),
    layers.Dense(vocab_size, activation="softmax"),
])
model.compile(optimizer=keras.optimizers.Adam(5e-3),
              loss="sparse_categorical_crossentropy",
              weighted_metrics=["accuracy"])
model.fit(x, y, sample_weight=weight, batch_size=64, epochs=6,
          validation_split=0.1, verbose=2)


def invent(temperature=0.7):
    seq = np.zeros((1, maxlen - 1), dtype="int32")
    seq[0, 0] = char_to_id["<"]
    word = ""
    for pos in range(maxlen - 2):
        p = model(seq)[0, pos].numpy().astype("float64")
        p = np.power(p, 1 / temperature)
        c = int(rng.choice(len(p), p=p / p.sum()))
        if c == 0 or id_to_char[c] == ">":
            break
        word += id_to_char[c]
        seq[0, pos + 1] = c
    return word


print([invent() for _ in range(10)])
