"""Next-note model for folk-like melodies: tied embeddings, accumulated gradients."""
import keras
import numpy as np
from keras import layers, ops

PAD, BOS, EOS = 0, 1, 2
N_NOTES = 24
VOCAB = 3 + N_NOTES
MAX_LEN = 27
SCALE = [0, 2, 4, 5, 7, 9, 11, 12, 14, 16, 17, 19]


FORMULAS = [[0, 1, 2, 4], [4, 3, 2, 0], [0, 2, 4, 2, 1], [5, 4, 2, 4], [0, 0, 4, 4, 5],
            [2, 1, 0, 2, 4], [7, 5, 4, 2, 0], [1, 3, 5, 3], [4, 4, 3, 3, 2], [0, 4, 7, 4]]


def compose(rng):
    """A few stock phrases, possibly shifted by a step, all inside one key."""
    key = rng.integers(0, 5)
    notes = []
    for _ in range(int(rng.integers(2, 6))):
        up = int(rng.choice([0, 0, 1, 2]))
        notes += [SCALE[d + up] + key for d in FORMULAS[rng.integers(len(FORMULAS))]]
    return [BOS] + [3 + n for n in notes][:MAX_LEN - 2] + [EOS]


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    seqs = [compose(rng) for _ in range(n)]
    out = np.full((n, MAX_LEN), PAD, "int32")
    for row, s in zip(out, seqs):
        row[:len(s)] = s
    return out


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.ff = keras.Sequential([layers.Dense(3 * dim, activation="gelu"), layers.Dense(dim)])
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()

    def build(self, shape):
        self.attn.build(shape, shape)
        self.n1.build(shape)
        self.n2.build(shape)
        self.ff.build(shape)
        self.built = True

    def call(self, x):
        h = self.n1(x)
        x = x + self.attn(h, h, use_causal_mask=True)
        return x + self.ff(self.n2(x))


class TiedLM(keras.Model):
    def __init__(self, dim=48, depth=1, heads=4):
        super().__init__()
        self.tok = layers.Embedding(VOCAB, dim, embeddings_initializer=keras.initializers.RandomNormal(stddev=0.1))
        self.pos = layers.Embedding(MAX_LEN, dim)
        self.blocks = [Block(dim, heads, name=f"block{i}") for i in range(depth)]
        self.norm = layers.LayerNormalization()

    def call(self, ids):
        n = ops.shape(ids)[1]
        h = self.tok(ids) * 4.0 + self.pos(ops.arange(n))[None]
        for b in self.blocks:
            h = b(h)
        # no separate output matrix: scores are dot products with the note table
        return ops.matmul(self.norm(h), ops.transpose(self.tok.embeddings))


def pairs(seqs):
    x, y = seqs[:, :-1], seqs[:, 1:]
    return x, y, (y != PAD).astype("float32")


def main():
    keras.utils.set_random_seed(4)
    train, val, test = (pairs(corpus(n, s)) for n, s in ((2200, 0), (300, 1), (500, 2)))
    model = TiedLM()
    model.compile(
        optimizer=keras.optimizers.Adam(
            4e-3, beta_2=0.98, clipnorm=1.0, gradient_accumulation_steps=2),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=["sparse_categorical_accuracy"],
    )
    model.fit(train[0], train[1], sample_weight=train[2], validation_data=val,
              batch_size=16, epochs=7, verbose=2)

    def score(logits, split):
        hit = (logits.argmax(-1) == split[1]) * split[2]
        return hit.sum() / split[2].sum()

    acc = score(model.predict(test[0], verbose=0), test)
    # first-order baseline from counts
    counts = np.zeros((VOCAB, VOCAB))
    np.add.at(counts, (train[0].ravel(), train[1].ravel()), train[2].ravel())
    bigram = score(counts[test[0]], test)
    print(f"test next-note accuracy {acc:.3f}, bigram table {bigram:.3f}, uniform {1 / VOCAB:.3f}")
    print("parameters:", model.count_params())


if __name__ == "__main__":
    main()
