import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification


@dataclass
class Config:
    seq_len: int = 24
    batch_size: int = 32
    epochs: int = 5
    learning_rate: float = 2e-5
    hidden: int = 64
    layers: int = 2
    seed: int = 8


DESKS = {
    "sport": "match goal coach league striker penalty stadium".split(),
    "politics": "minister vote senate reform coalition ballot treaty".split(),
    "science": "telescope genome particle vaccine fossil orbit enzyme".split(),
    "culture": "novel gallery premiere opera sculptor festival critic".split(),
}
COMMON = "today after the a in on city said yesterday long new its by for people who as first".split()


def build_corpus(n, rng):
    desks = list(DESKS)
    texts, labels = [], []
    for _ in range(n):
        y = int(rng.integers(len(desks)))
        words = list(rng.choice(COMMON, rng.integers(8, 16))) + list(rng.choice(DESKS[desks[y]], 4))
        rng.shuffle(words)
        texts.append(words)
        labels.append(y)
    return texts, np.array(labels)


def encode(texts, vocab, seq_len):
    ids = np.zeros((len(texts), seq_len), dtype=np.int32)
    mask = np.zeros_like(ids)
    for i, words in enumerate(texts):
        row = [1] + [vocab[w] for w in words][: seq_len - 2] + [2]
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
    return {"input_ids": ids, "attention_mask": mask}


def main(cfg=Config()):
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    texts, labels = build_corpus(1400, rng)
    words = sorted(set(COMMON) | {w for ws in DESKS.values() for w in ws})
    vocab = {w: i + 3 for i, w in enumerate(words)}
    train_x, val_x = encode(texts[:1200], vocab, cfg.seq_len), encode(texts[1200:], vocab, cfg.seq_len)
    train_y, val_y = labels[:1200], labels[1200:]

    bert = BertConfig(vocab_size=len(vocab) + 3, hidden_size=cfg.hidden, num_hidden_layers=cfg.layers,
                      num_attention_heads=4, intermediate_size=128, max_position_embeddings=64,
                      num_labels=len(DESKS))
    model = TFBertForSequenceClassification(bert)
    model.compile(optimizer=tf.keras.optimizers.Adam(learning_rate=cfg.learning_rate),
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(train_x, train_y, validation_data=(val_x, val_y), epochs=cfg.epochs,
              batch_size=cfg.batch_size, verbose=2)


if __name__ == "__main__":
    main()
