# Rewrites dates such as "7 mar 1984" to "1984-03-07" with a GRU encoder-decoder.
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import random
import numpy as np
import tensorflow as tf
import keras
from keras import layers

random.seed(9)
keras.utils.set_random_seed(9)
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def pair():
    d, m, y = random.randint(1, 28), random.randint(0, 11), random.randint(1990, 2019)
    src = f"{d} {MONTHS[m]} {y}" if random.random() < 0.5 else f"{MONTHS[m]} {d} {y}"
    return src, f"{y}-{m + 1:02d}-{d:02d}"


CHARS = ["_", "^"] + sorted(set("".join(MONTHS)) | set("0123456789 -"))
C = {c: i for i, c in enumerate(CHARS)}
SRC_LEN, TGT_LEN = 11, 10


def encode(s, n):
    return [C[c] for c in s] + [0] * (n - len(s))


def arrays(n):
    ps = [pair() for _ in range(n)]
    src = np.array([encode(s, SRC_LEN) for s, _ in ps], "int32")
    tgt = np.array([encode("^" + t, TGT_LEN + 1) for _, t in ps], "int32")
    return src, tgt, ps


class Encoder(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.emb = layers.Embedding(len(CHARS), 32, mask_zero=True)
        self.gru = layers.GRU(units)

    def call(self, src):
        return self.gru(self.emb(src))


class Decoder(keras.Model):
    def __init__(self, units):
        super().__init__()
        self.emb = layers.Embedding(len(CHARS), 32)
        self.gru = layers.GRU(units, return_sequences=True, return_state=True)
        self.out = layers.Dense(len(CHARS))

    def call(self, tokens, state):
        h, state = self.gru(self.emb(tokens), initial_state=state)
        return self.out(h), state


encoder, decoder = Encoder(96), Decoder(96)
src, tgt, _ = arrays(5000)
test_src, test_tgt, test_pairs = arrays(300)
decoder(tgt[:1, :-1], encoder(src[:1]))

optimizer = keras.optimizers.Adam(4e-3)
xent = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
weights = encoder.trainable_variables + decoder.trainable_variables
optimizer.build(weights)


@tf.function
def update(s, t):
    with tf.GradientTape() as tape:
        state = encoder(s, training=True)
        logits, _ = decoder(t[:, :-1], state, training=True)
        loss = xent(t[:, 1:], logits)
    grads = tape.gradient(loss, weights)
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, weights))
    return loss


def translate(s):
    state = encoder(s)
    tok = np.full((len(s), 1), C["^"], "int32")
    outs = []
    for _ in range(TGT_LEN):
        logits, state = decoder(tok, state)
        tok = logits.numpy().argmax(-1).astype("int32")
        outs.append(tok[:, 0])
    return np.stack(outs, 1)


ds = tf.data.Dataset.from_tensor_slices((src, tgt)).shuffle(5000, seed=0).batch(64)
for epoch in range(14):
    mean = keras.metrics.Mean()
    for s, t in ds:
        mean.update_state(update(s, t))
    guess = translate(test_src)
    exact = (guess == test_tgt[:, 1:]).all(1).mean()
    print(f"epoch {epoch + 1:2d} loss {float(mean.result()):.4f} exact match {exact:.3f}")

for (s, t), g in list(zip(test_pairs, guess))[:4]:
    print(f"{s:12s} -> {''.join(CHARS[i] for i in g)}   (want {t})")
