"""Tags vegetables, quantities and units in allotment diary lines, on word pieces, with a small BERT."""
import random
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForTokenClassification

TAGS = ["O", "QTY", "UNIT", "VEG"]
VEG = ["carrots", "parsnips", "shallots", "kale", "chard", "radishes", "turnips", "leeks", "beans", "spinach"]
UNITS = ["rows", "trays", "kilos", "bunches", "pots"]
QTY = ["two", "three", "four", "five", "seven", "dozen"]
VERBS = ["sowed", "picked", "watered", "thinned", "moved"]
TAIL = ["before the rain", "after lunch", "with anna", "in bed seven", "by the shed"]


@dataclass
class Config:
    max_len: int = 48
    rows: int = 900
    epochs: int = 6
    batch_size: int = 32
    lr: float = 1e-3


def diary_line(rng):
    line = [(rng.choice(VERBS), 0), (rng.choice(QTY), 1)]
    if rng.random() < 0.8:
        line += [(rng.choice(UNITS), 2), ("of", 0)]
    line.append((rng.choice(VEG), 3))
    if rng.random() < 0.6:
        line += [(w, 0) for w in rng.choice(TAIL).split()]
    return line


def pieces(word):
    return [word[:3]] + ["##" + word[i : i + 2] for i in range(3, len(word), 2)]


def encode(lines, vocab, cfg):
    ids = np.zeros((len(lines), cfg.max_len), "int32")
    labels = np.full((len(lines), cfg.max_len), -100, "int32")
    for r, line in enumerate(lines):
        pos = 1
        ids[r, 0] = vocab["[CLS]"]
        for word, tag in line:
            for j, piece in enumerate(pieces(word)):
                ids[r, pos] = vocab.get(piece, vocab["[UNK]"])
                if j == 0:
                    labels[r, pos] = tag
                pos += 1
        ids[r, pos] = vocab["[SEP]"]
    return {"input_ids": ids, "attention_mask": (ids != 0).astype("int32"), "labels": labels}


def main():
    cfg = Config()
    tf_keras.utils.set_random_seed(31)
    rng = random.Random(31)
    lines = [diary_line(rng) for _ in range(cfg.rows)]
    cut = int(cfg.rows * 0.85)
    names = sorted({p for line in lines[:cut] for w, _ in line for p in pieces(w)})
    vocab = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + names)}
    train, test = encode(lines[:cut], vocab, cfg), encode(lines[cut:], vocab, cfg)

    model = TFBertForTokenClassification(
        BertConfig(
            vocab_size=len(vocab), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=128, max_position_embeddings=cfg.max_len, num_labels=len(TAGS),
        )
    )
    model.compile(optimizer=tf_keras.optimizers.Adam(cfg.lr))
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(cut, seed=1).batch(cfg.batch_size)
    model.fit(ds, epochs=cfg.epochs, verbose=2)

    gold = test.pop("labels")
    pred = model.predict(test, batch_size=64, verbose=0).logits.argmax(-1)
    kept = gold != -100
    print(f"word accuracy {np.mean(pred[kept] == gold[kept]):.3f}  all O: {np.mean(gold[kept] == 0):.3f}")
    for k, tag in enumerate(TAGS[1:], 1):
        print(f"{tag:5s} recall {np.mean(pred[kept & (gold == k)] == k):.3f}")


if __name__ == "__main__":
    main()
