"""Printing house: do the errata slips ask to DELETE or to INSERT? Order of words decides."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers

CFG = dict(vocab=60, maxlen=70, emb=16, units=24, epochs=6, batch=64, lr=5e-3, seed=5)
keras.utils.set_random_seed(CFG["seed"])
rng = np.random.default_rng(CFG["seed"])
A, B, UNK = 2, 3, 1


def slips(n):
    rows, y = [], []
    for _ in range(n):
        body = rng.integers(4, CFG["vocab"], rng.integers(4, 13)).tolist()
        i, j = sorted(rng.choice(len(body), 2, replace=False))
        label = int(rng.integers(0, 2))
        body[i], body[j] = (A, B) if label else (B, A)
        rows.append(body)
        y.append(label)
    rows = keras.utils.pad_sequences(rows, maxlen=CFG["maxlen"], padding="post")
    return rows, np.array(y, "float32")


class WordDropout(layers.Layer):
    """Blanks whole word vectors at random while training."""

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs, training=None):
        if not training:
            return inputs
        shape = tf.shape(inputs)
        keep = tf.random.uniform((shape[0], shape[1], 1)) >= self.rate
        return inputs * tf.cast(keep, inputs.dtype)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}


def build():
    words = keras.Input((CFG["maxlen"],), dtype="int32", name="words")
    h = layers.Embedding(CFG["vocab"], CFG["emb"], mask_zero=True)(words)
    h = WordDropout(0.05)(h)
    h = layers.GRU(CFG["units"])(h)
    out = layers.Dense(1, activation="sigmoid")(h)
    return keras.Model(words, out)


x, y = slips(2400)
xt, yt = slips(600)
model = build()
model.compile(keras.optimizers.Adam(CFG["lr"]), "binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=CFG["batch"], epochs=CFG["epochs"], validation_split=0.1, verbose=2)
loss, acc = model.evaluate(xt, yt, verbose=0)
print(f"held-out slips: loss {loss:.3f} accuracy {acc:.3f}")
