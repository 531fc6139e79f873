"""Sentiment of short reviews with a tiny DistilBERT, data as tf.data pipelines."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

SEED = 29
tf_keras.utils.set_random_seed(SEED)

GOOD = "great lovely superb tasty friendly cozy perfect charming".split()
BAD = "awful bland rude dirty slow noisy stale overpriced".split()
PLAIN = "the food was and we had a table near window waiter menu with soup on friday".split()
WORDS = ["[PAD]", "[CLS]", "not"] + sorted(set(GOOD + BAD + PLAIN))
IDS = {w: i for i, w in enumerate(WORDS)}
LENGTH = 16


def compose(rng):
    label = int(rng.integers(2))
    words = list(rng.choice(PLAIN, rng.integers(7, 13)))
    for _ in range(2):
        words[rng.integers(len(words))] = str(rng.choice(GOOD if label else BAD))
    return words, label


def encode(words):
    ids = [IDS["[CLS]"]] + [IDS[w] for w in words]
    mask = [1] * len(ids)
    pad = LENGTH - len(ids)
    return ids + [0] * pad, mask + [0] * pad


class ReviewData:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        pairs = [compose(rng) for _ in range(n)]
        enc = [encode(words) for words, _ in pairs]
        self.features = {
            "input_ids": np.array([e[0] for e in enc], "int32"),
            "attention_mask": np.array([e[1] for e in enc], "int32"),
        }
        self.labels = np.array([label for _, label in pairs], "int32")

    def __len__(self):
        return len(self.labels)

    def pipeline(self, batch, training):
        feats = tf.data.Dataset.from_tensor_slices(self.features)
        target = tf.data.Dataset.from_tensor_slices(self.labels)
        if training:
            feats = feats.shuffle(len(self))
        both = tf.data.Dataset.zip((feats, target))
        return both.batch(batch).prefetch(2)


def tiny_model():
    config = DistilBertConfig(
        vocab_size=len(WORDS),
        max_position_embeddings=LENGTH,
        n_layers=2,
        n_heads=4,
        dim=64,
        hidden_dim=128,
        num_labels=2,
        pad_token_id=0,
    )
    return TFDistilBertForSequenceClassification(config)


train, test = ReviewData(1600, SEED), ReviewData(400, SEED + 1)

model = tiny_model()
model.compile(
    optimizer=tf_keras.optimizers.Adam(5e-4),
    loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train.pipeline(32, True), epochs=5, verbose=2)

loss, acc = model.evaluate(test.pipeline(100, False), verbose=0)
print("share of positive reviews", round(float(test.labels.mean()), 3))
print(f"test loss {loss:.3f} test accuracy {acc:.3f}")
