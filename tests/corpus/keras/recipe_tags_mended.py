import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import random

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForTokenClassification

UNITS = ["cup", "cups", "tbsp", "g", "ml", "pinch"]
FOODS = ["flour", "sugar", "olive oil", "sea salt", "butter", "brown rice", "milk", "lemon juice"]
PREPS = ["chopped", "melted", "finely sliced", "warm", "sifted"]
GLUE = ["of", "about", "plus", "then", "some"]
TAGS = ["QTY", "UNIT", "FOOD", "PREP", "O"]
TAG2ID = {tag: i for i, tag in enumerate(TAGS)}


def line(rnd):
    words, tags = [], []

    def put(text, tag):
        for w in text.split():
            words.append(w)
            tags.append(tag)

    for _ in range(rnd.randint(1, 3)):
        if rnd.random() < 0.4:
            put(rnd.choice(GLUE), "O")
        put(str(rnd.randint(1, 20)), "QTY")
        if rnd.random() < 0.8:
            put(rnd.choice(UNITS), "UNIT")
        if rnd.random() < 0.5:
            put("of", "O")
        if rnd.random() < 0.5:
            put(rnd.choice(PREPS), "PREP")
        put(rnd.choice(FOODS), "FOOD")
    return words, tags


def build_vocab(lines):
    vocab = {"[PAD]": 0, "[UNK]": 1}
    for words, _ in lines:
        for w in words:
            vocab.setdefault(w, len(vocab))
    return vocab


def encode(lines, vocab, max_len=24):
    ids = np.zeros((len(lines), max_len), dtype="int32")
    mask = np.zeros_like(ids)
    labels = np.full_like(ids, -100)
    for r, (words, tags) in enumerate(lines):
        n = min(len(words), max_len)
        ids[r, :n] = [vocab.get(w, 1) for w in words[:n]]
        mask[r, :n] = 1
        labels[r, :n] = [TAG2ID[t] for t in tags[:n]]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def tag_accuracy(model, data):
    logits = model.predict({k: data[k] for k in ("input_ids", "attention_mask")}, batch_size=64, verbose=0).logits
    keep = data["labels"] != -100
    return float(np.mean(logits.argmax(-1)[keep] == data["labels"][keep])), bool(np.isnan(logits).any())


def main():
    rnd = random.Random(2)
    tf_keras.utils.set_random_seed(2)
    lines = [line(rnd) for _ in range(1400)]
    vocab = build_vocab(lines[:1100])
    train, test = encode(lines[:1100], vocab), encode(lines[1100:], vocab)

    config = DistilBertConfig(
        vocab_size=len(vocab), dim=64, hidden_dim=128, n_layers=2, n_heads=4,
        max_position_embeddings=32, num_labels=len(TAGS), pad_token_id=0,
    )
    model = TFDistilBertForTokenClassification(config)
    model.compile(optimizer=tf_keras.optimizers.Adam(1e-3), jit_compile=True)
    feed = tf.data.Dataset.from_tensor_slices(train).shuffle(1100, seed=2).batch(20)
    history = model.fit(feed, epochs=4, verbose=2)

    acc, broken = tag_accuracy(model, test)
    values, counts = np.unique(test["labels"][test["labels"] != -100], return_counts=True)
    print("last training loss", round(history.history["loss"][-1], 4), "nan in logits", broken)
    print(f"tag accuracy {acc:.3f}  most frequent tag {counts.max() / counts.sum():.3f}")


if __name__ == "__main__":
    main()
