"""Topic of a headline: fixed random word vectors, a small trained reader, best checkpoint restored."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import tempfile
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(23)
TOPIC_WORDS = {
    "sport": "match goal coach league season striker referee stadium title transfer".split(),
    "money": "bank shares profit market rates bond inflation merger budget dividend".split(),
    "health": "hospital vaccine patients trial surgery doctors diet clinic virus therapy".split(),
}
SHARED = "new after says over first report as plans big week city chief calls for in of set to".split()
WIDTH = 12


def headlines(n, seed):
    rng = np.random.default_rng(seed)
    names = list(TOPIC_WORDS)
    y = rng.integers(0, 3, n)
    rows = []
    for k in y:
        own = list(rng.choice(TOPIC_WORDS[names[k]], rng.integers(1, 4)))
        other = list(rng.choice(TOPIC_WORDS[names[rng.integers(0, 3)]], 1)) if rng.random() < 0.3 else []
        words = own + other + list(rng.choice(SHARED, rng.integers(3, 7)))
        rng.shuffle(words)
        rows.append(words[:WIDTH])
    return rows, y.astype("int32")


def ids_of(rows, vocab):
    out = np.zeros((len(rows), WIDTH), "int32")
    for r, words in enumerate(rows):
        out[r, :len(words)] = [vocab.get(w, 1) for w in words]
    return out


class Reader(keras.Model):
    def __init__(self, n_words):
        super().__init__()
        self.words = layers.Embedding(n_words, 64, embeddings_initializer="random_normal", trainable=False)
        self.gate = layers.Dense(1)
        self.mix = layers.Dense(48, activation="tanh")
        self.topic = layers.Dense(3)

    def call(self, ids):
        e = self.words(ids) * 20.0
        score = tf.where(ids[..., None] > 0, self.gate(e), -1e9)
        pooled = tf.reduce_sum(tf.nn.softmax(score, axis=1) * e, axis=1)
        return self.topic(self.mix(pooled))


def mean_nll(model, x, y):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))


def main():
    tr_rows, y_tr = headlines(900, 1)
    va_rows, y_va = headlines(250, 2)
    te_rows, y_te = headlines(500, 3)
    vocab = {"": 0, "?": 1}
    for row in tr_rows:
        for w in row:
            vocab.setdefault(w, len(vocab))
    x_tr, x_va, x_te = (ids_of(r, vocab) for r in (tr_rows, va_rows, te_rows))
    model = Reader(len(vocab))
    model(x_tr[:2])
    opt = keras.optimizers.AdamW(1e-2, weight_decay=1e-3)
    ckpt = tf.train.Checkpoint(model=model)
    where = os.path.join(tempfile.mkdtemp(), "best")
    print(f"weights {len(model.weights)}, trained {len(model.trainable_variables)}")

    @tf.function
    def step(xb, yb):
        with tf.GradientTape() as tape:
            loss = mean_nll(model, xb, yb)
        v = model.trainable_variables
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, v), 0.5)
        opt.apply_gradients(zip(grads, v))
        return loss

    best, saved = np.inf, None
    ds = tf.data.Dataset.from_tensor_slices((x_tr, y_tr)).shuffle(900, seed=3).batch(30)
    for epoch in range(15):
        train = np.mean([float(step(*b)) for b in ds])
        val = float(mean_nll(model, x_va, y_va))
        if val < best:
            best, saved = val, ckpt.write(where)
        print(f"epoch {epoch + 1:2d} train {train:.4f} val {val:.4f}")
    before = float(mean_nll(model, x_te, y_te))
    ckpt.restore(saved).expect_partial()
    acc = np.mean(model(x_te).numpy().argmax(1) == y_te)
    print(f"test nll last epoch {before:.4f}, restored {float(mean_nll(model, x_te, y_te)):.4f}; "
          f"test accuracy {acc:.4f} (chance 0.33)")


if __name__ == "__main__":
    main()
