import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(4)

rng = np.random.default_rng(4)
who = ["an old man", "a young girl", "a tall cook", "a thin priest", "a shy clerk"]
where = ["of the coast", "from the hills", "in a boat", "near the mill"]
did = ["who ate seven plates of toast", "who counted the daffodils", "who painted a purple goat", "who never paid any bills"]
text = "".join(f"there was {rng.choice(who)} {rng.choice(where)}, {rng.choice(did)}.\n" for _ in range(400))

chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
ids = np.array([stoi[c] for c in text], dtype="int32")
BLOCK, DIM, VOCAB = 48, 64, len(chars)


def windows(ids, n):
    starts = rng.integers(0, len(ids) - BLOCK - 1, n)
    x = np.stack([ids[s:s + BLOCK] for s in starts])
    y = np.stack([ids[s + 1:s + BLOCK + 1] for s in starts])
    return x, y


split = int(0.9 * len(ids))
x_train, y_train = windows(ids[:split], 1600)
x_val, y_val = windows(ids[split:], 200)


class TokenAndPosition(layers.Layer):
    def __init__(self, vocab, length, dim):
        super().__init__()
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(length, dim)

    def call(self, x):
        return self.tok(x) + self.pos(tf.range(tf.shape(x)[1]))


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln1, self.ln2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.ff = keras.Sequential([layers.Dense(4 * dim, activation="gelu"), layers.Dense(dim)])

    def call(self, x):
        h = self.ln1(x)
        x = x + self.attn(h, h)
        return x + self.ff(self.ln2(x))


inputs = keras.Input((BLOCK,), dtype="int32")
h = TokenAndPosition(VOCAB, BLOCK, DIM)(inputs)
h = Block(DIM, 4)(h)
h = Block(DIM, 4)(h)
logits = layers.Dense(VOCAB)(layers.LayerNormalization()(h))
model = keras.Model(inputs, logits)
model.compile(keras.optimizers.Adam(3e-3, clipnorm=1.0),
              keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x_train, y_train, validation_data=(x_val, y_val), epochs=8, batch_size=32, verbose=2)


def generate(prompt, n):
    out = [stoi[c] for c in prompt]
    for _ in range(n):
        ctx = out[-BLOCK:]
        padded = np.zeros((1, BLOCK), "int32")
        padded[0, :len(ctx)] = ctx
        step = model(padded, training=False)[0, len(ctx) - 1]
        out.append(int(tf.argmax(step)))
    return "".join(chars[i] for i in out)


print(generate("there was a", 90))
