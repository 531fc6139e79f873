import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.datasets import load_digits
from transformers import BertConfig, TFBertForSequenceClassification

tf_keras.utils.set_random_seed(61)
rng = np.random.default_rng(61)

BATCH = 32
BOARD_WIDTH = 120
PAD, CLS, FIRST = 0, 1, 2

digits = load_digits()
bitmaps = (digits.images > 6).astype("int32")
labels = digits.target.astype("int32")
weights = 2 ** np.arange(8)


def strip_tokens(bitmap):
    used = np.flatnonzero(bitmap.any(axis=0))
    cols = bitmap[:, used[0]:used[-1] + 1].T @ weights
    stretch = rng.integers(1, 4)
    return np.r_[CLS, np.repeat(cols, stretch) + FIRST]


class StripFeed:
    def __init__(self, idx, width=None, shuffle=False):
        self.idx = np.asarray(idx)
        self.width = width
        self.shuffle = shuffle

    def collate(self, seqs, y):
        width = self.width or max(map(len, seqs))
        ids = np.full((len(seqs), width), PAD, "int32")
        mask = np.zeros((len(seqs), width), "int32")
        for r, s in enumerate(seqs):
            ids[r, :len(s)] = s
            mask[r, :len(s)] = 1
        return {"input_ids": ids, "attention_mask": mask}, y

    def __iter__(self):
        seqs = [strip_tokens(bitmaps[i]) for i in self.idx]
        order = np.arange(len(seqs))
        if self.shuffle:
            order = rng.permutation(order)
            order = order[np.argsort([len(seqs[i]) for i in order], kind="stable")]
        batches = [order[b:b + BATCH] for b in range(0, len(order) - BATCH + 1, BATCH)]
        if self.shuffle:
            rng.shuffle(batches)
        for pick in batches:
            yield self.collate([seqs[i] for i in pick], labels[self.idx[pick]])


def build():
    cfg = BertConfig(
        vocab_size=256 + FIRST,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=128,
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.0,
        pad_token_id=PAD,
        num_labels=10,
    )
    net = TFBertForSequenceClassification(cfg)
    net.compile(
        optimizer=tf_keras.optimizers.Adam(2e-3),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return net


def endless(feed):
    while True:
        yield from feed


perm = rng.permutation(len(labels))
train_feed = StripFeed(perm[:1400], shuffle=True)
board_feed = StripFeed(perm[1400:], width=BOARD_WIDTH)

net = build()
hist = net.fit(endless(train_feed), steps_per_epoch=1400 // BATCH, epochs=12, verbose=0)
print("train loss", [round(v, 3) for v in hist.history["loss"][::3]])
print("train accuracy", round(hist.history["accuracy"][-1], 3))

hits, seen = 0, 0
for batch, y in board_feed:
    logits = net(batch, training=False).logits.numpy()
    hits += int((logits.argmax(1) == y).sum())
    seen += len(y)
print(f"board accuracy {hits / seen:.3f} on {seen} strips (chance 0.10)")
