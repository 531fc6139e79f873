"""Sentiment of short reviews; micro-batches of 8 summed into effective batches of 32."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import random
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

random.seed(2)
tf.random.set_seed(2)

GOOD = "lovely crisp superb warm charming brilliant tasty friendly".split()
BAD = "stale rude dreadful cold noisy greasy bland slow".split()
PLAIN = "the waiter soup room table bread we had our dinner and with evening place fish came was".split()
TOK = {w: i for i, w in enumerate(["<pad>", "<cls>", "not"] + GOOD + BAD + PLAIN)}
LEN = 20


def review():
    y = random.randint(0, 1)
    words = [random.choice(PLAIN) for _ in range(random.randint(6, 12))]
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(words))
        if random.random() < 0.3:
            words[at:at] = ["not", random.choice(BAD if y else GOOD)]
        else:
            words.insert(at, random.choice(GOOD if y else BAD))
    ids = ([TOK["<cls>"]] + [TOK[w] for w in words])[:LEN]
    return ids + [0] * (LEN - len(ids)), y


def make(n):
    rows = [review() for _ in range(n)]
    return np.array([r[0] for r in rows], "int32"), np.array([r[1] for r in rows], "int32")


class Accumulator:
    def __init__(self, model, optimizer, every):
        self.model, self.opt, self.every = model, optimizer, every
        self.vars = model.trainable_variables
        self.buffer = [tf.Variable(tf.zeros(v.shape), trainable=False) for v in self.vars]

    @tf.function
    def micro(self, ids, y):
        with tf.GradientTape() as tape:
            logits = self.model(input_ids=ids, attention_mask=tf.cast(ids > 0, tf.int32), training=True).logits
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
            scaled = loss / self.every
        for buf, g in zip(self.buffer, tape.gradient(scaled, self.vars)):
            buf.assign_add(tf.convert_to_tensor(g))
        return loss

    @tf.function
    def flush(self):
        grads, norm = tf.clip_by_global_norm([b.read_value() for b in self.buffer], 1.0)
        self.opt.apply_gradients(zip(grads, self.vars))
        for b in self.buffer:
            b.assign(tf.zeros_like(b))
        return norm


cfg = DistilBertConfig(vocab_size=len(TOK), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                       max_position_embeddings=LEN, num_labels=2, initializer_range=0.05)
model = TFDistilBertForSequenceClassification(cfg)
model(input_ids=np.ones((1, LEN), "int32"))
acc = Accumulator(model, tf.keras.optimizers.Adam(1e-3), every=4)

x, y = make(2048)
xv, yv = make(400)
for epoch in range(6):
    order = np.random.default_rng(epoch).permutation(len(x))
    total = 0.0
    for i in range(len(x) // 8):
        j = order[i * 8 : (i + 1) * 8]
        total += float(acc.micro(tf.constant(x[j]), tf.constant(y[j])))
        if (i + 1) % acc.every == 0:
            acc.flush()
    pred = model(input_ids=xv, attention_mask=(xv > 0).astype("int32"), training=False).logits.numpy().argmax(-1)
    print(f"epoch {epoch + 1} loss {total / (len(x) // 8):.4f} val acc {np.mean(pred == yv):.4f}")
