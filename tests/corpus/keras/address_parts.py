"""Tag the parts of an address with a small TF BERT. Words are cut into two-letter pieces; only the first piece
of a word carries a label, the others are -100 and are masked out of the loss by hand. tf_keras, fit."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification, set_seed

set_seed(6)
rng = np.random.default_rng(6)
TAGS = ["name", "street", "number", "city", "code", "other"]
SYL = "ba be bi bo da de di do fa fi ka ke ki ko la le li lo ma me mi mo na ne ni no ra re ri ro sa se si so".split()
MAXLEN = 40


def word(ending=""):
    return "".join(rng.choice(SYL, rng.integers(2, 4))) + ending


def digits(n):
    return "".join(str(d) for d in rng.integers(0, 10, n))


def address():
    street = [(word(), "street"), (str(rng.choice(["road", "lane", "gate"])), "street")]
    number, city, code = (digits(rng.integers(1, 4)), "number"), (word("burgh"), "city"), (digits(5), "code")
    name = [(word(), "name"), (word("son"), "name")]
    parts = list(name) if rng.random() < 0.8 else []
    parts += [number] + street if rng.random() < 0.5 else street + [number]
    tail = [code, city] if rng.random() < 0.5 else [city, code]
    if rng.random() < 0.3:
        tail.insert(0, ("near", "other"))
    return parts + tail


def pieces(w):
    return [w[i:i + 2] for i in range(0, len(w), 2)]


def encode(rows, vocab, grow=False):
    ids = np.zeros((len(rows), MAXLEN), "int32")
    mask = np.zeros_like(ids)
    labels = np.full((len(rows), MAXLEN), -100, "int32")
    for r, row in enumerate(rows):
        c = 0
        for w, tag in row:
            for j, p in enumerate(pieces(w)):
                if c >= MAXLEN:
                    break
                if grow:
                    vocab.setdefault(p, len(vocab))
                ids[r, c] = vocab.get(p, 1)
                mask[r, c] = 1
                if j == 0:
                    labels[r, c] = TAGS.index(tag)
                c += 1
    return ids, mask, labels


def masked_loss(labels, logits):
    keep = tf.cast(labels >= 0, tf.float32)
    ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(labels, 0), logits=logits)
    return tf.reduce_sum(ce * keep) / tf.reduce_sum(keep)


class WordAccuracy(tf_keras.metrics.Metric):
    def __init__(self, name="word_acc"):
        super().__init__(name=name)
        self.hit = self.add_weight(name="hit", initializer="zeros")
        self.n = self.add_weight(name="n", initializer="zeros")

    def update_state(self, y, p, sample_weight=None):
        keep = tf.cast(y >= 0, tf.float32)
        same = tf.cast(tf.argmax(p, -1, output_type=y.dtype) == y, tf.float32)
        self.hit.assign_add(tf.reduce_sum(same * keep))
        self.n.assign_add(tf.reduce_sum(keep))

    def result(self):
        return self.hit / self.n


class Tagger(tf_keras.Model):
    def __init__(self, config):
        super().__init__()
        self.bert = TFBertForTokenClassification(config, name="tagger")

    def call(self, inputs, training=False):
        return self.bert(input_ids=inputs["ids"], attention_mask=inputs["mask"], training=training).logits


def main():
    vocab = {"<pad>": 0, "<unk>": 1}
    train, test = [address() for _ in range(1500)], [address() for _ in range(500)]
    ids, mask, labels = encode(train, vocab, grow=True)
    tids, tmask, tlabels = encode(test, vocab)
    config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=96, max_position_embeddings=MAXLEN, num_labels=len(TAGS),
                        initializer_range=0.05, hidden_dropout_prob=0.05)
    model = Tagger(config)
    lr = tf_keras.optimizers.schedules.PolynomialDecay(3e-3, 8 * 47, 1e-5)
    model.compile(optimizer=tf_keras.optimizers.legacy.Adam(lr, clipnorm=1.0), loss=masked_loss,
                  metrics=[WordAccuracy()])
    model.fit({"ids": ids, "mask": mask}, labels, batch_size=32, epochs=8, validation_split=0.1, verbose=2)

    logits = model.predict({"ids": tids, "mask": tmask}, batch_size=100, verbose=0)
    keep = tlabels >= 0
    hit = logits.argmax(-1) == tlabels
    whole = np.mean([hit[i][keep[i]].all() for i in range(len(hit))])
    share = np.bincount(tlabels[keep]).max() / keep.sum()
    print(f"TEST word accuracy {hit[keep].mean():.3f} (commonest tag {share:.3f})  whole addresses {whole:.3f}")


if __name__ == "__main__":
    main()
