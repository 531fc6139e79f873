import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

tf_keras.utils.set_random_seed(61)
rng = np.random.default_rng(61)

TAGS = ["O", "PART", "QTY"]
PARTS = ["bolt", "washer", "bracket", "hinge", "screw", "gasket"]
PIECES = {"bracket": ["brack", "##et"], "washer": ["wash", "##er"], "gasket": ["gask", "##et"]}
VERBS = ["send", "order", "need", "ship", "return"]
EXTRA = ["today", "asap", "please", "again", "for", "the", "depot"]

words = ["[PAD]", "[CLS]", "[SEP]"] + VERBS + EXTRA + [str(i) for i in range(1, 20)]
for p in PARTS:
    words += PIECES.get(p, [p])
vocab = {w: i for i, w in enumerate(dict.fromkeys(words))}


def sentence():
    toks = [(str(rng.choice(VERBS)), 0)]
    for _ in range(int(rng.integers(1, 4))):
        if rng.random() < 0.7:
            toks.append((str(rng.integers(1, 20)), 2))
        toks.append((str(rng.choice(PARTS)), 1))
        if rng.random() < 0.5:
            toks.append(("for", 0))
            toks.append((str(rng.integers(1, 20)), 0))
    toks += [(str(w), 0) for w in rng.choice(EXTRA, size=int(rng.integers(0, 5)))]
    return toks


def encode(toks, length=24):
    ids, labels = [vocab["[CLS]"]], [-100]
    for word, tag in toks:
        pieces = PIECES.get(word, [word])
        ids += [vocab[p] for p in pieces]
        labels += [tag] + [-100] * (len(pieces) - 1)
    ids.append(vocab["[SEP]"])
    labels.append(-100)
    gap = length - len(ids)
    return ids + [0] * gap, [1] * len(ids) + [0] * gap, labels + [-100] * gap


rows = [encode(sentence()) for _ in range(1000)]
ids, mask, tags = (np.array(c, dtype="int32") for c in zip(*rows))

train = tf.data.Dataset.from_tensor_slices(
    {"input_ids": ids[:800], "attention_mask": mask[:800], "labels": tags[:800]}
).shuffle(800, seed=2).batch(32)

model = TFBertForTokenClassification(
    BertConfig(
        vocab_size=len(vocab), hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=24, num_labels=len(TAGS),
        hidden_dropout_prob=0.05, attention_probs_dropout_prob=0.0,
    )
)
model.compile(optimizer=tf_keras.optimizers.Adam(3e-3))
model.fit(train, epochs=4, verbose=2)

logits = model.predict({"input_ids": ids[800:], "attention_mask": mask[800:]}, verbose=0, batch_size=50).logits
gold = tags[800:]
seen = gold != -100
acc = np.mean(logits.argmax(-1)[seen] == gold[seen])
majority = np.bincount(gold[seen]).max() / seen.sum()
print(f"token accuracy {acc:.3f}   majority tag {majority:.3f}   scored tokens {seen.mean():.2f} of all")
