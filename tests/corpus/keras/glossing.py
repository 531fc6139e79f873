import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)

LEXICON = {
    "DET": ["the", "a", "this"],
    "ADJ": ["old", "green", "quiet", "tall"],
    "NOUN": ["miller", "goat", "bridge", "song", "light"],
    "VERB": ["sees", "crosses", "hears", "wants", "light"],
    "ADV": ["slowly", "often"],
}
TAGS = {t: i for i, t in enumerate(LEXICON)}
VOCAB = {w: i + 1 for i, w in enumerate(sorted({w for ws in LEXICON.values() for w in ws}))}
MAXLEN = 20


def phrase():
    return ["DET"] + ["ADJ"] * int(rng.integers(0, 3)) + ["NOUN"]


def sample():
    tags = phrase() + ["VERB"] + phrase() + (["ADV"] if rng.random() < 0.5 else [])
    return [str(rng.choice(LEXICON[t])) for t in tags], tags


def build(n):
    x = np.zeros((n, MAXLEN), "int32")
    y = np.full((n, MAXLEN), -1, "int32")
    for i in range(n):
        words, tags = sample()
        x[i, : len(words)] = [VOCAB[w] for w in words]
        y[i, : len(tags)] = [TAGS[t] for t in tags]
        hidden = rng.random(len(tags)) < 0.2
        y[i, : len(tags)][hidden] = -1
    return x, y


x_train, y_train = build(1500)
x_val, y_val = build(300)

inputs = keras.Input((MAXLEN,), dtype="int32")
h = layers.Embedding(len(VOCAB) + 1, 24, mask_zero=True)(inputs)
h = layers.Bidirectional(layers.LSTM(24, return_sequences=True))(h)
logits = layers.Dense(len(TAGS))(h)
model = keras.Model(inputs, logits)

model.compile(
    optimizer=keras.optimizers.RMSprop(4e-3, clipnorm=1.0),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1),
)
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=8, batch_size=50, verbose=2)

pred = model.predict(x_val, verbose=0).argmax(-1)
keep = y_val >= 0
print("accuracy on glossed tokens", (pred[keep] == y_val[keep]).mean())
