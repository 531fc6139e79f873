"""Character language model over order lines, with a side head that reads off the order value."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2Model

tf_keras.utils.set_random_seed(41)
CFG = dict(width=48, layers=2, heads=4, lr=3e-3, epochs=6, batch=32, max_len=40)
ITEMS = {"bolt": 12, "hinge": 240, "bracket": 410, "drill": 5900, "ladder": 8900,
         "paint": 1850, "brush": 320, "sander": 7400}
PRICE_SCALE = 10000.0


def order_lines(n, seed):
    rng = np.random.default_rng(seed)
    texts, cents = [], []
    for _ in range(n):
        item = rng.choice(list(ITEMS))
        count = int(rng.integers(1, 10))
        verb = rng.choice(["send", "order", "ship"])
        place = rng.choice(["leeds depot", "york store", "bath office"])
        texts.append(f"{verb} {count} {item}{'s' if count > 1 else ''} to {place}")
        cents.append(count * ITEMS[item])
    return texts, np.array(cents, "float32")


def to_ids(texts, chars):
    ids = np.zeros((len(texts), CFG["max_len"] + 1), "int32")
    for r, t in enumerate(texts):
        row = [1] + [chars[c] for c in t] + [2]
        ids[r, :len(row)] = row
    return ids


class OrderLM(tf_keras.Model):
    def __init__(self, n_chars):
        super().__init__()
        self.gpt = TFGPT2Model(GPT2Config(
            vocab_size=n_chars, n_positions=CFG["max_len"], n_embd=CFG["width"],
            n_layer=CFG["layers"], n_head=CFG["heads"], resid_pdrop=0.0, embd_pdrop=0.0,
            attn_pdrop=0.0, bos_token_id=1, eos_token_id=2))
        self.chars = tf_keras.layers.Dense(n_chars)
        self.value = tf_keras.layers.Dense(1)

    def call(self, batch, training=False):
        h = self.gpt(input_ids=batch["ids"], attention_mask=batch["mask"],
                     training=training).last_hidden_state
        m = tf.cast(batch["mask"], h.dtype)[..., None]
        pooled = tf.reduce_sum(h * m, 1) / tf.reduce_sum(m, 1)
        return {"chars": self.chars(h), "value": self.value(pooled)}


def pipeline(ids, cents, train):
    def split(row, cent):
        x = {"ids": row[:-1], "mask": tf.cast(row[:-1] > 0, tf.int32)}
        y = {"chars": row[1:], "value": cent[None] / PRICE_SCALE}
        return x, y

    ds = tf.data.Dataset.from_tensor_slices((ids, cents))
    if train:
        ds = ds.shuffle(len(ids), seed=2)
    return ds.map(split).batch(CFG["batch"]).prefetch(1)


def char_loss(y, logits):
    nll = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    w = tf.cast(y > 0, nll.dtype)
    return tf.reduce_sum(nll * w) / tf.reduce_sum(w)


def main():
    tr_text, tr_cents = order_lines(1200, 1)
    te_text, te_cents = order_lines(300, 2)
    chars = {c: i + 3 for i, c in enumerate(sorted(set("".join(tr_text))))}
    tr, te = to_ids(tr_text, chars), to_ids(te_text, chars)
    model = OrderLM(len(chars) + 3)
    model.compile(optimizer=tf_keras.optimizers.Adam(CFG["lr"], clipnorm=1.0),
                  loss={"chars": char_loss, "value": "mse"})
    model.fit(pipeline(tr, tr_cents, True), epochs=CFG["epochs"], verbose=2)

    out = model.predict(pipeline(te, te_cents, False), verbose=0)
    nll = float(char_loss(te[:, 1:], out["chars"]))
    hit = (out["chars"].argmax(-1) == te[:, 1:])[te[:, 1:] > 0].mean()
    counts = np.bincount(tr[:, 1:][tr[:, 1:] > 0])
    p = counts[counts > 0] / counts.sum()
    print(f"test nll per char {nll:.4f}  next-char accuracy {hit:.4f}  (unigram nll {-(p * np.log(p)).sum():.4f})")


if __name__ == "__main__":
    main()
