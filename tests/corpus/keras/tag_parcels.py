# Sequence tagging with a small TF BERT; only the first piece of each word carries a label.
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

rng = np.random.default_rng(8)
tf.keras.utils.set_random_seed(8)
NAMES, CITIES = ["anna", "boris", "chloe", "dmitri", "elif"], ["oslo", "quito", "lagos", "perth", "hanoi"]
ITEMS = ["book", "lamp", "guitar", "carpet", "kettle"]
TAGS = ["O", "NAME", "CITY", "ITEM"]
PIECES = {"guitar": ["gui", "##tar"], "carpet": ["car", "##pet"], "dmitri": ["dmi", "##tri"], "quito": ["qui", "##to"]}
TEMPL = ["send a I to N in C", "N of C wants the I", "from C comes the I for N", "did N return her I to C", "the C office told N about a I"]
# a person may be called like a city and the other way round
SWAP = 0.3


def sentence():
    toks, tags = ["[CLS]"], [-100]
    for w in TEMPL[rng.integers(len(TEMPL))].split():
        tag = {"N": 1, "C": 2, "I": 3}.get(w, 0)
        if tag:
            pool = [NAMES, CITIES, ITEMS][tag - 1]
            if tag < 3 and rng.random() < SWAP:
                pool = [CITIES, NAMES][tag - 1]
            w = pool[rng.integers(5)]
        for j, piece in enumerate(PIECES.get(w, [w])):
            toks.append(piece)
            tags.append(tag if j == 0 else -100)
    return toks + ["[SEP]"], tags + [-100]


def corpus(n):
    return [sentence() for _ in range(n)]


train, test = corpus(1500), corpus(400)
vocab = {t: i for i, t in enumerate(["[PAD]", "[CLS]", "[SEP]"] + sorted({t for s, _ in train for t in s} - {"[CLS]", "[SEP]"}))}
MAXLEN = 16


def arrays(rows):
    ids = np.zeros((len(rows), MAXLEN), "int32")
    lab = np.full((len(rows), MAXLEN), -100, "int32")
    for i, (s, t) in enumerate(rows):
        ids[i, :len(s)] = [vocab[k] for k in s]
        lab[i, :len(t)] = t
    return {"input_ids": ids, "attention_mask": (ids != 0).astype("int32")}, lab


class IgnoreLoss(tf.keras.losses.Loss):
    def call(self, y, logits):
        keep = tf.cast(y != -100, tf.float32)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.where(y < 0, 0, y), logits)
        return tf.reduce_sum(ce * keep) / tf.maximum(tf.reduce_sum(keep), 1.0)


class WordAccuracy(tf.keras.metrics.Metric):
    def __init__(self, name="word_acc"):
        super().__init__(name=name)
        self.hit = self.add_weight(name="hit", initializer="zeros")
        self.all = self.add_weight(name="all", initializer="zeros")

    def update_state(self, y, logits, sample_weight=None):
        keep = tf.cast(y != -100, tf.float32)
        ok = tf.cast(tf.argmax(logits, -1, output_type=tf.int32) == y, tf.float32)
        self.hit.assign_add(tf.reduce_sum(ok * keep))
        self.all.assign_add(tf.reduce_sum(keep))

    def result(self):
        return self.hit / tf.maximum(self.all, 1.0)

    def reset_state(self):
        self.hit.assign(0.0)
        self.all.assign(0.0)


class Tagger(tf.keras.Model):
    """Body and head learn at their own rates."""

    def __init__(self, bert):
        super().__init__()
        self.bert = bert

    def call(self, x, training=False):
        return self.bert(x, training=training).logits

    def compile(self, body_opt, **kw):
        super().compile(**kw)
        self.body_opt = body_opt

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            out = self(x, training=True)
            loss = self.compiled_loss(y, out, regularization_losses=self.losses)
        head = self.bert.classifier.trainable_variables
        ids = {id(v) for v in head}
        body = [v for v in self.trainable_variables if id(v) not in ids]
        grads = tape.gradient(loss, body + head)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        self.body_opt.apply_gradients(zip(grads[:len(body)], body))
        self.optimizer.apply_gradients(zip(grads[len(body):], head))
        self.compiled_metrics.update_state(y, out)
        return {m.name: m.result() for m in self.metrics}


x, y = arrays(train)
xt, yt = arrays(test)
bert = TFBertForTokenClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
    max_position_embeddings=MAXLEN, num_labels=len(TAGS)))
model = Tagger(bert)
model.compile(optimizer=tf.keras.optimizers.Adam(5e-3), body_opt=tf.keras.optimizers.Adam(1e-3),
              loss=IgnoreLoss(), metrics=[WordAccuracy()])
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1500, seed=1).batch(32)
dt = tf.data.Dataset.from_tensor_slices((xt, yt)).batch(100)
model.fit(ds, validation_data=dt, epochs=6, verbose=2)
