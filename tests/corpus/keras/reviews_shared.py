"""ALBERT-flavoured text classifier in Keras: two encoder blocks, each used twice, small factorised embedding."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import keras
import numpy as np
from keras import layers, ops
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression

keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)
GOOD = "good great lovely superb charming clever".split()
BAD = "bad dull awful boring clumsy weak".split()
FILL = "the film plot actor scene music was and with a very quite rather story end".split()
LEN = 20


def review():
    score = 0
    words = []
    while score == 0:
        words, score = [], 0
        for _ in range(rng.integers(2, 5)):
            words += list(rng.choice(FILL, rng.integers(1, 3)))
            s = 1 if rng.random() < 0.5 else -1
            w = rng.choice(GOOD if s > 0 else BAD)
            if rng.random() < 0.5:
                words.append("not")
                s = -s
            words.append(w)
            score += s
    return " ".join(words[:LEN]), int(score > 0)


texts, y = map(list, zip(*[review() for _ in range(4200)]))
y = np.array(y)
vocab = {w: i + 1 for i, w in enumerate(GOOD + BAD + FILL + ["not"])}
ids = np.zeros((len(texts), LEN), "int32")
for i, t in enumerate(texts):
    k = [vocab[w] for w in t.split()]
    ids[i, :len(k)] = k


@keras.saving.register_keras_serializable("demo")
class EncoderBlock(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.att = layers.MultiHeadAttention(heads, dim // heads)
        self.ff1, self.ff2 = layers.Dense(2 * dim, activation="gelu"), layers.Dense(dim)
        self.n1, self.n2 = layers.LayerNormalization(), layers.LayerNormalization()
        self.drop = layers.Dropout(0.05)

    def call(self, x, keep, training=None):
        h = self.n1(x)
        x = x + self.drop(self.att(h, h, attention_mask=keep[:, None, :]), training=training)
        return x + self.drop(self.ff2(self.ff1(self.n2(x))), training=training)

    def build(self, shape):
        for n in (self.n1, self.n2, self.ff1):
            n.build(shape)
        self.att.build(shape, shape)
        self.ff2.build(shape[:-1] + (self.ff1.units,))
        self.built = True


@keras.saving.register_keras_serializable("demo")
class AddPosition(layers.Layer):
    def build(self, shape):
        self.pos = self.add_weight(shape=(shape[1], shape[2]), initializer=keras.initializers.RandomNormal(stddev=0.1))

    def call(self, x):
        return x + self.pos


def build(dim=32):
    tok = keras.Input((LEN,), dtype="int32")
    keep = layers.Lambda(lambda t: ops.not_equal(t, 0), output_shape=(LEN,))(tok)
    x = layers.Embedding(len(vocab) + 1, 12)(tok)
    x = layers.Dense(dim, use_bias=False)(x)
    x = AddPosition()(x)
    a, b = EncoderBlock(dim, 2, name="a"), EncoderBlock(dim, 2, name="b")
    for block in [a, b] * 2:
        x = block(x, keep)
    x = layers.LayerNormalization()(x)
    w = layers.Lambda(lambda m: ops.cast(m, "float32")[..., None], output_shape=(LEN, 1))(keep)
    pooled = layers.Lambda(lambda p: ops.sum(p[0] * p[1], 1) / ops.sum(p[1], 1), output_shape=(dim,))([x, w])
    return keras.Model(tok, layers.Dense(1, activation="sigmoid")(pooled))


model = build()
n_tr = 3400
model.compile(keras.optimizers.AdamW(3e-3, weight_decay=1e-3, clipnorm=1.0), "binary_crossentropy",
              metrics=["accuracy", keras.metrics.AUC(name="auc")])
print("weights in the two blocks:", sum(int(np.prod(w.shape)) for n in "ab" for w in model.get_layer(n).weights))
model.fit(ids[:n_tr], y[:n_tr], batch_size=64, epochs=8, validation_split=0.1, verbose=2,
          callbacks=[keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.4, patience=1, min_lr=2e-4)])
loss, acc, auc = model.evaluate(ids[n_tr:], y[n_tr:], verbose=0)
cv = CountVectorizer().fit(texts[:n_tr])
bow = LogisticRegression(max_iter=500).fit(cv.transform(texts[:n_tr]), y[:n_tr])
print(f"test accuracy {acc:.3f} auc {auc:.3f} | bag of words {bow.score(cv.transform(texts[n_tr:]), y[n_tr:]):.3f} "
      f"| majority {max(y[n_tr:].mean(), 1 - y[n_tr:].mean()):.3f}")
