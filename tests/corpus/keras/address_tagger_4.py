"""Tag address lines (street, number, town, postcode) with a tiny BERT.

Words are split into pieces, only the first piece of a word carries a label. The word-piece table is a
fixed random projection of character trigrams, so it is not trained; micro batches are summed up before
an optimizer step, weighted by their number of labelled words.
"""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification, set_seed

set_seed(50)
TAGS = ["O", "STREET", "NUMBER", "TOWN", "ZIP"]
PAD, CLS, SEP, MAX = 0, 1, 2, 32
MICRO, ACCUM, EPOCHS = 24, 2, 6
SYL = "ba ker lin den hof stein mar wal ro sen berg tal au dorf ulm hein kir chen gra ben wies".split()
FILL = "please deliver to our new office at attn order from the shop near c/o".split()


def word(rng, tail=None):
    return [str(s) for s in rng.choice(SYL, rng.integers(1, 3))] + ([tail] if tail else [])


def line(rng):
    """list of (pieces, tag); town and street share syllables, only tails and context differ."""
    out = [([str(w)], 0) for w in rng.choice(FILL, rng.integers(1, 5))]
    street = [(word(rng, rng.choice(["##str", "##weg", "##gas", None], p=[.3, .2, .1, .4])), 1),
              ([c for c in str(rng.integers(1, 200))], 2)]
    town = [([c for c in str(rng.integers(10000, 99999))], 4), (word(rng), 3)]
    out += street + town if rng.random() < 0.7 else town + street
    if rng.random() < 0.3:
        out.append(([str(rng.choice(FILL))], 0))
    return out


PIECES = ["[PAD]", "[CLS]", "[SEP]"] + SYL + FILL + ["##str", "##weg", "##gas"] + list("0123456789")
VOCAB = {p: i for i, p in enumerate(dict.fromkeys(PIECES))}


def encode(n, seed):
    rng = np.random.default_rng(seed)
    ids = np.full((n, MAX), PAD, "int32")
    lab = np.full((n, MAX), -100, "int32")
    for i in range(n):
        pos, ids[i, 0] = 1, CLS
        for pieces, tag in line(rng):
            for j, p in enumerate(pieces):
                if pos < MAX - 1:
                    ids[i, pos] = VOCAB[p]
                    lab[i, pos] = tag if j == 0 else -100
                    pos += 1
        ids[i, pos] = SEP
    return ids, (ids != PAD).astype("int32"), lab


def trigram_table(dim):
    r = np.random.default_rng(1)
    proj, rows = {}, []
    for p in VOCAB:
        s = f"^{p}$"
        grams = [s[i:i + 3] for i in range(max(1, len(s) - 2))]
        rows.append(sum(proj.setdefault(g, r.normal(0, 1, dim)) for g in grams) / len(grams) ** 0.5)
    return np.array(rows, "float32") * 0.15


train, val, test = encode(1152, 1), encode(250, 2), encode(500, 3)
model = TFBertForTokenClassification(BertConfig(
    vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=MAX, num_labels=len(TAGS),
    hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.0, initializer_range=0.08))
model(input_ids=train[0][:2], attention_mask=train[1][:2])
table = model.bert.embeddings.weight
table.assign(trigram_table(48))
learn = [v for v in model.trainable_variables if v is not table]
buffers = [tf.Variable(tf.zeros_like(v), trainable=False) for v in learn]
words = tf.Variable(0.0, trainable=False)
optimizer = tf.keras.optimizers.Adam(4e-3, beta_2=0.98)
CLASS_W = tf.constant([0.6, 1.2, 1.0, 1.2, 1.0])


@tf.function
def micro(ids, mask, lab):
    with tf.GradientTape() as tape:
        logits = model(input_ids=ids, attention_mask=mask, training=True).logits
        keep = tf.cast(lab >= 0, tf.float32)
        safe = tf.maximum(lab, 0)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=safe, logits=logits)
        loss = tf.reduce_sum(ce * keep * tf.gather(CLASS_W, safe))
    for b, g in zip(buffers, tape.gradient(loss, learn)):
        b.assign_add(tf.convert_to_tensor(g))
    words.assign_add(tf.reduce_sum(keep))
    return loss


@tf.function
def flush():
    grads, _ = tf.clip_by_global_norm([b / words for b in buffers], 1.0)
    optimizer.apply_gradients(zip(grads, learn))
    for b in buffers:
        b.assign(tf.zeros_like(b))
    words.assign(0.0)


@tf.function
def predict(ids, mask):
    return tf.argmax(model(input_ids=ids, attention_mask=mask, training=False).logits, -1)


def score(split):
    ids, mask, lab = split
    pred, on = predict(tf.constant(ids), tf.constant(mask)).numpy(), lab >= 0
    whole = np.all((pred == lab) | ~on, axis=1).mean()
    return (pred == lab)[on].mean(), whole, np.bincount(lab[on]).max() / on.sum()


ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1152, seed=5).batch(MICRO, drop_remainder=True)
for epoch in range(EPOCHS):
    total = 0.0
    for k, batch in enumerate(ds):
        total += float(micro(*batch))
        if k % ACCUM == ACCUM - 1:
            flush()
    acc, whole, _ = score(val)
    print(f"epoch {epoch + 1}: summed loss {total:.1f}  val word acc {acc:.3f}  whole lines {whole:.3f}")
acc, whole, base = score(test)
print(f"test word accuracy {acc:.3f}, whole lines {whole:.3f}  (most frequent tag {base:.3f})")
