"""Tag recipe tokens with a BiGRU; padded steps carry no loss, warm-up then cosine, a second head guesses the cuisine."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import math
import numpy as np
import tensorflow as tf
import keras
from keras import layers

rng = np.random.default_rng(23)
keras.utils.set_random_seed(23)
FOOD = {0: "rice soy ginger tofu sesame noodle", 1: "tomato basil olive pasta oregano mozzarella",
        2: "bean corn chili lime avocado cumin"}
FOOD = {k: v.split() for k, v in FOOD.items()}
UNIT = "cup spoon gram pinch slice".split()
VERB = "chop stir boil fry add".split()
NUM = [str(i) for i in range(1, 10)]
OTHER = "the then and with until of".split()
vocab = ["<pad>"] + sum(FOOD.values(), []) + UNIT + VERB + NUM + OTHER
ix = {w: i for i, w in enumerate(vocab)}
MAX = 40                         # tags: 0 other, 1 quantity, 2 unit, 3 food, 4 action


def recipe():
    c = int(rng.integers(0, 3))
    toks = []
    for _ in range(rng.integers(1, 6)):
        toks += [(rng.choice(VERB), 4), (rng.choice(NUM), 1)]
        if rng.random() < 0.7:
            toks += [(rng.choice(UNIT), 2), ("of", 0)]
        src = c if rng.random() < 0.8 else int(rng.integers(0, 3))
        toks += [(rng.choice(FOOD[src]), 3), (rng.choice(OTHER), 0)]
    return toks[:MAX], c


def pack(n):
    x, t, c = np.zeros((n, MAX), "int32"), np.zeros((n, MAX), "int32"), np.zeros(n, "int32")
    for i in range(n):
        toks, c[i] = recipe()
        x[i, :len(toks)] = [ix[w] for w, _ in toks]
        t[i, :len(toks)] = [g for _, g in toks]
    return x, t, c


class WarmCosine(keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warm, total):
        self.peak, self.warm, self.total = peak, warm, total

    def __call__(self, step):
        s = tf.cast(step, tf.float32)
        cos = 0.5 * (1 + tf.cos(math.pi * tf.minimum(1.0, (s - self.warm) / (self.total - self.warm))))
        return self.peak * tf.where(s < self.warm, (s + 1) / self.warm, cos)

    def get_config(self):
        return {"peak": self.peak, "warm": self.warm, "total": self.total}


xtr, ttr, ctr = pack(1200)
xte, tte, cte = pack(300)
inp = keras.Input((MAX,), dtype="int32")
e = layers.Embedding(len(vocab), 24, mask_zero=True)(inp)
h = layers.Bidirectional(layers.GRU(24, return_sequences=True))(e)
tags = layers.Dense(5, name="tags")(h)
cuisine = layers.Dense(3, name="cuisine")(layers.GlobalAveragePooling1D()(h))
model = keras.Model(inp, {"tags": tags, "cuisine": cuisine})

EPOCHS, BATCH = 6, 32
opt = keras.optimizers.AdamW(WarmCosine(5e-3, 30, EPOCHS * math.ceil(len(xtr) / BATCH)), weight_decay=1e-3)
tok_ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=None)
sent_ce = keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@tf.function(reduce_retracing=True)
def step(x, t, c):
    m = tf.cast(x != 0, tf.float32)
    with tf.GradientTape() as tape:
        out = model(x, training=True)
        tok = tf.reduce_sum(tok_ce(t, out["tags"]) * m) / tf.reduce_sum(m)
        cls = sent_ce(c, out["cuisine"])
        loss = tok + 0.3 * cls
    g, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    opt.apply_gradients(zip(g, model.trainable_variables))
    return tok, cls


ds = tf.data.Dataset.from_tensor_slices((xtr, ttr, ctr)).shuffle(1200, seed=2).batch(BATCH)
for ep in range(EPOCHS):
    for batch in ds:
        tok, cls = step(*batch)
    out = model.predict(xte, verbose=0)
    keep = xte != 0
    print(f"epoch {ep} tag loss {float(tok):.4f} cuisine loss {float(cls):.4f} "
          f"tag acc {(out['tags'].argmax(-1)[keep] == tte[keep]).mean():.4f} "
          f"cuisine acc {(out['cuisine'].argmax(-1) == cte).mean():.4f}")
