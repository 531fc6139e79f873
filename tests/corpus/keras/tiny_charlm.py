"""A very small character-level transformer language model."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import keras
from keras import layers, ops

keras.utils.set_random_seed(1)
rng = np.random.default_rng(1)

# --- corpus -----------------------------------------------------------------
NOUNS = "cat dog fox bird farmer miller sailor child".split()
VERBS = "sees likes follows paints greets".split()
ADJS = "old small red quiet happy".split()


def sentence():
    a, b = rng.choice(NOUNS, 2)
    return f"the {rng.choice(ADJS)} {a} {rng.choice(VERBS)} the {b}. "


text = "".join(sentence() for _ in range(800))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = np.array([stoi[c] for c in text])

T = 24
starts = np.arange(0, len(data) - T - 1, 8)
X = np.stack([data[s:s + T] for s in starts])
Y = np.stack([data[s + 1:s + T + 1] for s in starts])
cut = int(0.9 * len(X))

# --- model ------------------------------------------------------------------
D = 32


class Embed(layers.Layer):
    def __init__(self):
        super().__init__()
        self.tok = layers.Embedding(len(chars), D)
        self.pos = layers.Embedding(T, D)

    def call(self, ids):
        return self.tok(ids) + self.pos(ops.arange(ids.shape[1]))


def block(x):
    h = layers.LayerNormalization()(x)
    h = layers.MultiHeadAttention(num_heads=2, key_dim=D // 2)(h, h)
    x = x + h
    h = layers.LayerNormalization()(x)
    h = layers.Dense(2 * D, activation="gelu")(h)
    return x + layers.Dense(D)(h)


inp = keras.Input((T,), dtype="int32")
x = Embed()(inp)
for _ in range(2):
    x = block(x)
out = layers.Dense(len(chars))(layers.LayerNormalization()(x))
lm = keras.Model(inp, out)
lm.compile(optimizer=keras.optimizers.Adam(5e-3),
           loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
           metrics=["accuracy"])
lm.fit(X[:cut], Y[:cut], validation_data=(X[cut:], Y[cut:]),
       batch_size=32, epochs=8, verbose=2)

# --- sample -----------------------------------------------------------------
seq = [stoi[c] for c in "the old cat likes"]
for _ in range(120):
    ctx = seq[-T:]
    padded = np.zeros((1, T), dtype="int32")
    padded[0, :len(ctx)] = ctx
    logits = ops.convert_to_numpy(lm(padded))[0, len(ctx) - 1]
    p = np.exp((logits - logits.max()) / 0.5)
    seq.append(int(rng.choice(len(chars), p=p / p.sum())))
sample = "".join(chars[i] for i in seq)
print(sample)
known = set(text.split())
words = sample.split()[4:-1]
print("share of real words in the sample: %.2f" % np.mean([w in known for w in words] or [0]))
