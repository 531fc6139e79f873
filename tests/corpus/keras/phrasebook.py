import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(2)
rng = np.random.default_rng(2)

NUMBERS = "zero one two three four five six seven eight nine".split()
ITEMS = "apples pears plums figs nuts".split()
ZIFFERN = "null eins zwei drei vier fuenf sechs sieben acht neun".split()
DINGE = "aepfel birnen pflaumen feigen nuesse".split()
en = {w: i + 1 for i, w in enumerate(NUMBERS + ITEMS + ["and", "please"])}
de = {w: i + 1 for i, w in enumerate(["<s>", "</s>", "und", "bitte"] + ZIFFERN + DINGE)}
LEN_IN, LEN_OUT, D_MODEL = 7, 9, 64


def sentence():
    parts = [(rng.integers(10), rng.integers(5)) for _ in range(rng.integers(1, 3))]
    src, tgt = [], []
    for n, (a, b) in enumerate(parts):
        src += (["and"] if n else []) + [NUMBERS[a], ITEMS[b]]
        tgt += (["und"] if n else []) + [ZIFFERN[a], DINGE[b]]
    if rng.random() < 0.5:
        src, tgt = src + ["please"], ["bitte"] + tgt
    return [en[w] for w in src], [de["<s>"]] + [de[w] for w in tgt] + [de["</s>"]]


pairs = [sentence() for _ in range(2400)]
src = keras.utils.pad_sequences([p[0] for p in pairs], LEN_IN, padding="post")
tgt = keras.utils.pad_sequences([p[1] for p in pairs], LEN_OUT, padding="post")


class CustomSchedule(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, d_model, warmup_steps=4000):
        super().__init__()
        self.d_model = tf.cast(d_model, tf.float32)
        self.warmup_steps = warmup_steps

    def __call__(self, step):
        step = tf.cast(step, tf.float32) + 1
        return tf.math.rsqrt(self.d_model) * tf.minimum(tf.math.rsqrt(step), step * self.warmup_steps ** -1.5)


class Embed(layers.Layer):
    def __init__(self, vocab, length):
        super().__init__()
        self.tok, self.pos = layers.Embedding(vocab, D_MODEL), layers.Embedding(length, D_MODEL)
        self.length = length

    def call(self, ids):
        return self.tok(ids) + self.pos(tf.range(self.length))


def add_norm(x, y):
    return layers.LayerNormalization()(x + y)


enc_in, dec_in = keras.Input((LEN_IN,), dtype="int32"), keras.Input((LEN_OUT - 1,), dtype="int32")
pad = layers.Lambda(lambda t: tf.not_equal(t, 0)[:, None, :], output_shape=(1, LEN_IN))(enc_in)
e = Embed(len(en) + 1, LEN_IN)(enc_in)
e = add_norm(e, layers.MultiHeadAttention(4, 16)(e, e, attention_mask=pad))
e = add_norm(e, layers.Dense(D_MODEL)(layers.Dense(128, activation="relu")(e)))
d = Embed(len(de) + 1, LEN_OUT - 1)(dec_in)
d = add_norm(d, layers.MultiHeadAttention(4, 16)(d, d, use_causal_mask=True))
d = add_norm(d, layers.MultiHeadAttention(4, 16)(d, e, attention_mask=pad))
d = add_norm(d, layers.Dense(D_MODEL)(layers.Dense(128, activation="relu")(d)))
model = keras.Model([enc_in, dec_in], layers.Dense(len(de) + 1)(d))

optimizer = keras.optimizers.Adam(CustomSchedule(D_MODEL), beta_1=0.9, beta_2=0.98, epsilon=1e-9)
model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0),
              weighted_metrics=["accuracy"])

n = 2100
weight = (tgt[:, 1:] != 0).astype("float32")
model.fit([src[:n], tgt[:n, :-1]], tgt[:n, 1:], sample_weight=weight[:n], batch_size=128, epochs=5,
          validation_data=([src[n:], tgt[n:, :-1]], tgt[n:, 1:], weight[n:]), verbose=2)

guess = model.predict([src[n:], tgt[n:, :-1]], verbose=0).argmax(-1)
keep = weight[n:] > 0
print("token accuracy", (guess == tgt[n:, 1:])[keep].mean())
print("whole sentences", ((guess == tgt[n:, 1:]) | ~keep).all(1).mean())
