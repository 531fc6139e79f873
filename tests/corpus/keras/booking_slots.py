"""Slot tags for hotel requests: words are split into pieces, only first pieces carry a tag; warm-up and square-root decay."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

tf_keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)

CITIES = ["lisbon", "oslo", "marseille", "krakow", "valencia"]
DAYS = ["monday", "tuesday", "friday", "sunday"]
ROOMS = ["single", "double", "suite"]
TAGS = ["O", "FROM", "TO", "DAY", "ROOM"]


def request():
    a, b = rng.choice(CITIES, 2, replace=False)
    day, room = rng.choice(DAYS), rng.choice(ROOMS)
    parts = [[("from", 0), (a, 1)], [("to", 0), (b, 2)], [("on", 0), (day, 3)], [("a", 0), (room, 4), ("room", 0)]]
    rng.shuffle(parts)
    parts = parts[:rng.integers(2, 5)]
    return [("book", 0), ("please", 0)] * int(rng.random() < 0.5) + [t for p in parts for t in p]


def pieces(word):
    return [word] if len(word) < 5 else [word[:3]] + ["##" + word[i:i + 3] for i in range(3, len(word), 3)]


corpus = [request() for _ in range(1300)]
vocab = {"[PAD]": 0, "[CLS]": 1}
rows = []
for sent in corpus:
    ids, lab = [1], [-100]
    for word, tag in sent:
        for k, piece in enumerate(pieces(word)):
            ids.append(vocab.setdefault(piece, len(vocab)))
            lab.append(tag if k == 0 else -100)
    rows.append((ids, lab))
width = max(len(i) for i, _ in rows)
ids = np.array([i + [0] * (width - len(i)) for i, _ in rows], "int32")
labels = np.array([l + [-100] * (width - len(l)) for _, l in rows], "int32")
mask = (ids > 0).astype("int32")


class WarmupRsqrt(tf_keras.optimizers.schedules.LearningRateSchedule):
    def __init__(self, peak, warmup):
        self.peak, self.warmup = peak, float(warmup)

    def __call__(self, step):
        s = tf.cast(step, tf.float32) + 1.0
        return self.peak * tf.minimum(s / self.warmup, tf.sqrt(self.warmup / s))


config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=48, num_labels=len(TAGS))
model = TFBertForTokenClassification(config)
model.compile(optimizer=tf_keras.optimizers.Adam(WarmupRsqrt(2e-3, 80), clipnorm=1.0))  # the model's own loss

n = 1100
ds = tf.data.Dataset.from_tensor_slices(
    {"input_ids": ids[:n], "attention_mask": mask[:n], "labels": labels[:n]}
).shuffle(n).batch(32)
for _ in range(4):
    model.fit(ds, epochs=5, verbose=2)
    logits = model.predict({"input_ids": ids[n:], "attention_mask": mask[n:]}, verbose=0).logits
    gold = labels[n:]
    guess = logits.argmax(-1)
    slots = gold > 0
    print("slot accuracy %.3f, all words %.3f" % ((guess == gold)[slots].mean(), (guess == gold)[gold >= 0].mean()))
