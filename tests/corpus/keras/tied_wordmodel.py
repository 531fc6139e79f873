"""GRU language model with the output matrix tied to the input embedding; Lion optimizer."""
import numpy as np
import keras
from keras import layers, ops

VOCAB, DIM, LEN = 200, 64, 24


class TiedEmbedding(layers.Layer):
    """One matrix, used both to look words up and to score them."""

    def __init__(self, vocab, dim, **kw):
        super().__init__(**kw)
        self.vocab, self.dim = vocab, dim

    def build(self, _):
        self.table = self.add_weight(shape=(self.vocab, self.dim), name="table",
                                     initializer=keras.initializers.RandomNormal(stddev=0.05))
        self.bias = self.add_weight(shape=(self.vocab,), initializer="zeros", name="bias")

    def call(self, x, reverse=False):
        if reverse:
            return ops.matmul(x, ops.transpose(self.table)) + self.bias
        return ops.take(self.table, x, axis=0) * self.dim ** 0.5

    def compute_output_shape(self, shape):
        return tuple(shape) + (self.dim,)


def topic_chain(n, rng):
    """Words follow a sparse second-order habit: next depends on the word and the topic."""
    nxt = np.random.default_rng(0).integers(1, VOCAB, size=(4, VOCAB, 3))
    seqs = np.zeros((n, LEN + 1), dtype="int32")
    for i in range(n):
        topic = rng.integers(4)
        w = rng.integers(1, VOCAB)
        for j in range(rng.integers(12, LEN + 2)):
            seqs[i, j] = w
            w = nxt[topic, w, rng.choice(3, p=[0.75, 0.2, 0.05])]
    return seqs


def masked_xent(y, logits):
    mask = ops.cast(ops.not_equal(y, 0), "float32")
    loss = keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
    return ops.sum(loss * mask) / ops.sum(mask)


def masked_acc(y, logits):
    hit = ops.cast(ops.equal(ops.cast(ops.argmax(logits, -1), "int32"), ops.cast(y, "int32")), "float32")
    mask = ops.cast(ops.not_equal(y, 0), "float32")
    return ops.sum(hit * mask) / ops.sum(mask)


def main():
    keras.utils.set_random_seed(31)
    rng = np.random.default_rng(31)
    train, test = topic_chain(4000, rng), topic_chain(400, rng)

    emb = TiedEmbedding(VOCAB, DIM, name="tied")
    tokens = keras.Input((LEN,), dtype="int32")
    h = emb(tokens)
    h = layers.GRU(96, return_sequences=True)(h)
    h = layers.Dense(DIM)(h)
    h = layers.LayerNormalization()(h)
    model = keras.Model(tokens, emb(h, reverse=True))

    steps = 7 * (len(train) // 64 + 1)
    lr = keras.optimizers.schedules.CosineDecay(0.0, steps - 30, warmup_target=2e-3,
                                                warmup_steps=30, alpha=0.02)
    model.compile(optimizer=keras.optimizers.Lion(lr, beta_1=0.9, beta_2=0.98, weight_decay=1e-3),
                  loss=masked_xent, metrics=[masked_acc])
    model.fit(train[:, :-1], train[:, 1:], batch_size=64, epochs=7, verbose=2,
              validation_data=(test[:, :-1], test[:, 1:]))

    y = test[:, 1:]
    counts = np.bincount(train[:, 1:].ravel(), minlength=VOCAB).astype(float)
    counts[0] = 0
    p = (counts + 0.5) / (counts + 0.5).sum()
    unigram = -np.log(p[y[y > 0]]).mean()
    logits = model.predict(test[:, :-1], verbose=0)
    logp = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    nll = -np.take_along_axis(logp, y[..., None], -1)[..., 0][y > 0].mean()
    print(f"unigram perplexity {np.exp(unigram):.1f}  test perplexity {np.exp(nll):.2f}")


if __name__ == "__main__":
    main()
