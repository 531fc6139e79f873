"""Tag house numbers, streets and towns in fixed-width address strings."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

TAGS = ["other", "number", "street", "town"]
WIDTH = 24
CHARS = "abcdefghijklmnopqrstuvwxyz0123456789 ,"
ID = {c: i + 1 for i, c in enumerate(CHARS)}
STREETS = ["oak lane", "mill road", "high street", "elm row", "kings way"]
TOWNS = ["leeds", "york", "bath", "derby", "truro", "ely"]


def address(rng):
    parts = [
        (str(rng.integers(1, 200)), 1),
        (" ", 0),
        (str(rng.choice(STREETS)), 2),
        (", ", 0),
        (str(rng.choice(TOWNS)), 3),
    ]
    if rng.random() < 0.4:
        parts = [parts[4], (", ", 0), parts[0], (" ", 0), parts[2]]
    text = "".join(p for p, _ in parts)
    tags, pos = [-100] * WIDTH, 0
    for p, tag in parts:
        if pos < WIDTH:
            tags[pos] = tag
        pos += len(p)
    return text.ljust(WIDTH)[:WIDTH], tags


def split(n, seed):
    rng = np.random.default_rng(seed)
    texts, tags = zip(*(address(rng) for _ in range(n)))
    ids = np.array([[ID[c] for c in t] for t in texts], dtype="int32")
    return {"input_ids": ids, "labels": np.array(tags, dtype="int32")}


tf_keras.utils.set_random_seed(8)
train, test = split(900, 0), split(250, 1)
ds = tf.data.Dataset.from_tensor_slices(train).shuffle(900, seed=0).batch(32)

config = BertConfig(
    vocab_size=len(CHARS) + 1,
    hidden_size=48,
    num_hidden_layers=1,
    num_attention_heads=4,
    intermediate_size=96,
    max_position_embeddings=WIDTH,
    num_labels=len(TAGS),
)
model = TFBertForTokenClassification(config)
model.compile(optimizer=tf_keras.optimizers.Adam(3e-3))
log = model.fit(ds, epochs=6, verbose=0).history
print("loss per epoch", [round(float(v), 4) for v in log["loss"]])

logits = model.predict({"input_ids": test["input_ids"]}, batch_size=50, verbose=0).logits
gold = test["labels"]
seen = gold != -100
acc = np.mean(logits.argmax(-1)[seen] == gold[seen])
major = np.bincount(gold[seen]).max() / seen.sum()
print(f"scored positions {seen.mean():.2f} of all")
print(f"tag accuracy {acc:.3f}  (most frequent tag {major:.3f})")
