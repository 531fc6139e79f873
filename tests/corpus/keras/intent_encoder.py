"""Intent detection for short assistant requests with a two-block transformer."""
import keras
import numpy as np
import tensorflow as tf
from keras import layers

PAD, CLS = 0, 1
VERBS = {"play": 0, "stop": 1, "find": 2}
OBJECTS = {"music": 0, "timer": 1}
FILLER = ["please", "could", "you", "the", "a", "my", "now", "for", "me", "hey", "just",
          "kindly", "today", "again", "some", "then", "and", "in", "on", "at"]
WORDS = list(VERBS) + list(OBJECTS) + FILLER
INDEX = {w: i + 2 for i, w in enumerate(WORDS)}
MAX_LEN = 24


def request(rng):
    verb, obj = rng.choice(list(VERBS)), rng.choice(list(OBJECTS))
    words = list(rng.choice(FILLER, rng.integers(3, 15)))
    for w in (verb, obj):
        words.insert(rng.integers(len(words) + 1), w)
    return words, VERBS[verb] * len(OBJECTS) + OBJECTS[obj]


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    ids, intents = np.full((n, MAX_LEN), PAD, "int32"), np.zeros(n, "int32")
    for i in range(n):
        words, intents[i] = request(rng)
        row = [CLS] + [INDEX[w] for w in words]
        ids[i, :len(row)] = row
    return ids, intents


class Block(layers.Layer):
    def __init__(self, dim, heads):
        super().__init__()
        self.attend = layers.MultiHeadAttention(heads, dim // heads, dropout=0.05)
        self.ffn = keras.Sequential([layers.Dense(2 * dim, activation="relu"), layers.Dense(dim)])
        self.norm1, self.norm2 = layers.LayerNormalization(), layers.LayerNormalization()

    def call(self, x, mask, training=False):
        x = self.norm1(x + self.attend(x, x, attention_mask=mask, training=training))
        return self.norm2(x + self.ffn(x))


class IntentEncoder(keras.Model):
    def __init__(self, dim=32, heads=4, blocks=2):
        super().__init__()
        self.tokens = layers.Embedding(len(WORDS) + 2, dim)
        self.places = layers.Embedding(MAX_LEN, dim)
        self.blocks = [Block(dim, heads) for _ in range(blocks)]
        self.head = layers.Dense(len(VERBS) * len(OBJECTS))

    def call(self, ids, training=False):
        mask = tf.equal(ids, PAD)[:, None, :]
        x = self.tokens(ids) + self.places(tf.range(MAX_LEN))
        for block in self.blocks:
            x = block(x, mask, training=training)
        return self.head(x[:, 0])


def main():
    keras.utils.set_random_seed(31)
    x, y = corpus(2400, 0)
    x_test, y_test = corpus(600, 1)

    model = IntentEncoder()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
    )
    model.fit(x, y, validation_split=0.1, epochs=8, batch_size=48, verbose=2)
    loss, acc = model.evaluate(x_test, y_test, verbose=0)
    chance = np.bincount(y_test).max() / len(y_test)
    print(f"test loss {loss:.3f}  accuracy {acc:.3f}  (majority {chance:.3f})")


if __name__ == "__main__":
    main()
