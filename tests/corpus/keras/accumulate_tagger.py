"""Chunk tagger for shipping addresses. Micro-batches of 8 with gradients summed over 4 of them, masked loss."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import argparse
import numpy as np
import tensorflow as tf
import keras
from keras import layers

TAGS = ["O", "NAME", "STREET", "NUM", "CITY"]
FIRST = ["anna", "ben", "carl", "dora", "emil"]
# several words occur as a person, a street and a town, only the surroundings tell
SHARED = ["lincoln", "marlow", "preston", "bristol", "halifax", "chester", "florence", "jackson"]
NUMS = [str(n) for n in range(1, 31)]
WORDS = ["<pad>", "to", "street", "near", "in", "for", "please", "deliver", "flat"] + FIRST + SHARED + NUMS
IDX = {w: i for i, w in enumerate(WORDS)}


def address(rng):
    out = []
    def put(w, t):
        out.append((IDX[w], TAGS.index(t)))
    if rng.random() < 0.5:
        put("please", "O"); put("deliver", "O")
    parts = ["person", "street", "city"]
    rng.shuffle(parts)
    for part in parts:
        w = SHARED[rng.integers(len(SHARED))]
        if part == "person":
            put("for", "O")
            if rng.random() < 0.6:
                put(FIRST[rng.integers(len(FIRST))], "NAME")
            put(w, "NAME")
        elif part == "street":
            put("to", "O")
            if rng.random() < 0.5:
                put(NUMS[rng.integers(30)], "NUM"); put(w, "STREET"); put("street", "STREET")
            else:
                put(w, "STREET"); put(NUMS[rng.integers(30)], "NUM")
        else:
            put("in" if rng.random() < 0.5 else "near", "O"); put(w, "CITY")
    return out


def corpus(n, seed, width=14):
    rng = np.random.default_rng(seed)
    x = np.zeros((n, width), "int32")
    y = np.zeros((n, width), "int32")
    for i in range(n):
        a = address(rng)[:width]
        x[i, :len(a)] = [t[0] for t in a]
        y[i, :len(a)] = [t[1] for t in a]
    return x, y


def build():
    inp = keras.Input((None,), dtype="int32")
    h = layers.Embedding(len(WORDS), 24)(inp)
    h = layers.Conv1D(32, 3, padding="same", activation="relu")(h)
    h = layers.Conv1D(32, 3, padding="same", activation="relu")(h)
    return keras.Model(inp, layers.Dense(len(TAGS))(h))


class Accumulator:
    def __init__(self, model, opt, every):
        self.model, self.opt, self.every = model, opt, every
        self.store = [tf.Variable(tf.zeros_like(v)) for v in model.trainable_variables]
        self.tokens = tf.Variable(0.0)

    @tf.function
    def micro(self, x, y):
        w = tf.cast(x > 0, tf.float32)
        with tf.GradientTape() as tape:
            ce = tf.nn.sparse_softmax_cross_entropy_with_logits(y, self.model(x, training=True))
            total = tf.reduce_sum(ce * w)
        for s, g in zip(self.store, tape.gradient(total, self.model.trainable_variables)):
            s.assign_add(tf.convert_to_tensor(g))
        self.tokens.assign_add(tf.reduce_sum(w))
        return total

    @tf.function
    def apply(self):
        self.opt.apply_gradients([(s / self.tokens, v) for s, v in zip(self.store, self.model.trainable_variables)])
        for s in self.store:
            s.assign(tf.zeros_like(s))
        self.tokens.assign(0.0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--micro", type=int, default=8)
    ap.add_argument("--every", type=int, default=4)
    a = ap.parse_args()
    keras.utils.set_random_seed(2)
    x, y = corpus(1600, 0)
    xt, yt = corpus(500, 1)
    model = build()
    opt = keras.optimizers.Adam(4e-3)
    opt.build(model.trainable_variables)
    acc = Accumulator(model, opt, a.every)
    rng = np.random.default_rng(0)
    for ep in range(a.epochs):
        order = rng.permutation(len(x))
        tot = cnt = 0.0
        for k in range(len(x) // a.micro):
            b = order[k * a.micro:(k + 1) * a.micro]
            tot += float(acc.micro(tf.constant(x[b]), tf.constant(y[b])))
            cnt += float((x[b] > 0).sum())
            if (k + 1) % a.every == 0:
                acc.apply()
        print(f"epoch {ep + 1} token loss {tot / cnt:.4f}")
    pred = model.predict(xt, verbose=0).argmax(-1)
    real = xt > 0
    amb = np.isin(xt, [IDX[w] for w in SHARED])
    print(f"held-out tag accuracy {np.mean(pred[real] == yt[real]):.3f}  on ambiguous words {np.mean(pred[amb] == yt[amb]):.3f}"
          f"  (chance on those 0.333)")


if __name__ == "__main__":
    main()
