"""Slot tagging for booking requests: small TF BERT, word pieces, two optimizers, curriculum."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

TAGS = ["O", "B-NAME", "I-NAME", "B-CITY", "B-DATE", "I-DATE"]
T = {t: i for i, t in enumerate(TAGS)}
IGNORE = -100
MAX_LEN = 40
rng = np.random.default_rng(17)
tf_keras.utils.set_random_seed(17)

SYL = ["ka", "ro", "mi", "len", "sta", "vor", "bel", "tin", "dra", "os", "um", "ga"]
MONTHS = "january march april june july august october december".split()


def coin(lo, hi):
    return "".join(rng.choice(SYL, rng.integers(lo, hi)))


def request():
    name = [(coin(2, 4), "B-NAME")] + ([(coin(2, 4), "I-NAME")] if rng.random() < 0.6 else [])
    city = [(coin(2, 4), "B-CITY")]
    date = [(str(rng.integers(1, 31)), "B-DATE"), (rng.choice(MONTHS), "I-DATE")]
    o = lambda s: [(w, "O") for w in s.split()]
    parts = [
        lambda: o("book a room in") + city + o("for") + name,
        lambda: o("guest") + name + o("arrives on") + date,
        lambda: o("send") + name + o("to") + city + o("on") + date,
        lambda: o("cancel the trip to") + city,
        lambda: o("on") + date + o("we leave") + city,
    ]
    k = rng.integers(1, 4)
    sent = []
    for j in rng.choice(len(parts), k, replace=False):
        sent += (o("and then") if sent else []) + parts[j]()
    return sent


def pieces(word):
    return [word[i:i + 3] if i == 0 else "##" + word[i:i + 3] for i in range(0, len(word), 3)]


def encode(sents, vocab, grow):
    ids = np.zeros((len(sents), MAX_LEN), "int32")
    tags = np.full((len(sents), MAX_LEN), IGNORE, "int32")
    for r, s in enumerate(sents):
        col = 0
        for word, tag in s:
            for j, p in enumerate(pieces(word)):
                if col == MAX_LEN:
                    break
                if grow:
                    vocab.setdefault(p, len(vocab))
                ids[r, col] = vocab.get(p, 1)
                if j == 0:
                    tags[r, col] = T[tag]  # later pieces of a word carry no label
                col += 1
    return ids, tags


sents = [request() for _ in range(1900)]
vocab = {"[PAD]": 0, "[UNK]": 1}
x_train, y_train = encode(sents[:1500], vocab, grow=True)
x_test, y_test = encode(sents[1500:], vocab, grow=False)
print("vocabulary", len(vocab), "labelled positions %.2f" % (y_train != IGNORE).mean())

model = TFBertForTokenClassification(BertConfig(
    vocab_size=len(vocab), hidden_size=64, num_hidden_layers=1, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=MAX_LEN, num_labels=len(TAGS),
    hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.0))
model(x_train[:2])
head = model.classifier.trainable_variables
body = model.bert.trainable_variables
opt_body = tf_keras.optimizers.Adam(2e-3, clipnorm=1.0)
opt_head = tf_keras.optimizers.SGD(0.1, momentum=0.9)


@tf.function(input_signature=[tf.TensorSpec([None, MAX_LEN], tf.int32)] * 2)
def train_step(ids, tags):
    with tf.GradientTape() as tape:
        out = model(input_ids=ids, attention_mask=tf.cast(ids > 0, tf.int32), labels=tags, training=True)
        loss = tf.reduce_mean(out.loss)
    grads = tape.gradient(loss, body + head)
    opt_body.apply_gradients(zip(grads[:len(body)], body))
    opt_head.apply_gradients(zip(grads[len(body):], head))
    return loss


lengths = (x_train > 0).sum(1)
EPOCHS, BATCH = 6, 32
for epoch in range(EPOCHS):
    # short requests first, everything from the third epoch on
    limit = np.quantile(lengths, min(1.0, 0.5 + 0.25 * epoch))
    pool = rng.permutation(np.flatnonzero(lengths <= limit))
    total = [float(train_step(x_train[b], y_train[b]))
             for b in np.array_split(pool, max(1, len(pool) // BATCH))]
    print(f"epoch {epoch + 1} requests {len(pool)} loss {np.mean(total):.4f}")

logits = np.concatenate([model(input_ids=x_test[i:i + 100], attention_mask=(x_test[i:i + 100] > 0).astype("int32"),
                               training=False).logits.numpy() for i in range(0, len(x_test), 100)])
pred = logits.argmax(-1)
use = y_test != IGNORE
slot = use & (y_test != T["O"])
said = use & (pred != T["O"])
hit = (slot & (pred == y_test)).sum()
prec, rec = hit / max(said.sum(), 1), hit / slot.sum()
print(f"word accuracy {(pred == y_test)[use].mean():.3f} (all O {(y_test == 0)[use].mean():.3f})  "
      f"slot F1 {2 * prec * rec / (prec + rec):.3f}")
