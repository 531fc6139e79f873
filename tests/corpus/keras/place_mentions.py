import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

random.seed(9)
tf_keras.utils.set_random_seed(9)

NAMES = ["Paris", "Jordan", "Florence", "Austin", "Chelsea", "Sydney", "Lincoln", "Victoria"]
BEFORE = {0: [["we", "drove", "to"], ["flights", "from"], ["a", "hotel", "in"], ["the", "mayor", "of"]],
          1: [["my", "friend"], ["aunt"], ["said", "mister"], ["a", "letter", "by"]]}
OTHER = "yesterday the old market was full and nobody saw any rain but we had tea later with some cake".split()
WORDS = sorted(set(OTHER) | set(NAMES) | {w for v in BEFORE.values() for p in v for w in p})
VOCAB = {w: i + 3 for i, w in enumerate(WORDS)}


def sentence():
    kind = random.randrange(2)
    head = random.choices(OTHER, k=random.randint(2, 7))
    mid = random.choice(BEFORE[kind])
    tail = random.choices(OTHER, k=random.randint(2, 7))
    words = head + mid + [random.choice(NAMES)] + tail
    tags = [-100] * len(words)
    tags[len(head) + len(mid)] = kind
    return words, tags


def collate(rows):
    width = max(len(w) for w, _ in rows) + 2
    ids = np.zeros((len(rows), width), "int32")
    labels = np.full((len(rows), width), -100, "int32")
    for i, (words, tags) in enumerate(rows):
        ids[i, :len(words) + 2] = [1] + [VOCAB[w] for w in words] + [2]
        labels[i, 1:len(words) + 1] = tags
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32"), "labels": labels}


rows = [sentence() for _ in range(1000)]
train, val = collate(rows[:800]), collate(rows[800:])
train_ds = tf.data.Dataset.from_tensor_slices(train).shuffle(800, seed=9).batch(24)
val_ds = tf.data.Dataset.from_tensor_slices(val).batch(50)

model = TFBertForTokenClassification(BertConfig(
    vocab_size=len(VOCAB) + 3, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=40, num_labels=2))
model.compile(optimizer=tf_keras.optimizers.Adam(1e-3))
model.fit(train_ds, validation_data=val_ds, epochs=10, verbose=2)

logits = model.predict({k: val[k] for k in ("input_ids", "attention_mask")}, verbose=0).logits
kept = val["labels"] != -100
print("accuracy on mentions: %.3f of %d" % ((logits.argmax(-1)[kept] == val["labels"][kept]).mean(), kept.sum()))
