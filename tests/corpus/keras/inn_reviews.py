import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import argparse
import random

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

GOOD = "clean quiet friendly lovely warm spotless charming helpful superb cosy".split()
BAD = "dirty noisy rude damp broken smelly cramped freezing overpriced mouldy".split()
FILL = ("the a room was and very bed breakfast staff our stay at this inn with view of sea we had it "
        "in evening street bathroom night garden coffee stairs window again for two nights").split()


def write_review(rng):
    label = rng.randint(0, 1)
    words = []
    for _ in range(rng.randint(1, 5)):
        words += rng.choices(FILL, k=rng.randint(4, 9))
        pool = (GOOD if label else BAD) if rng.random() < 0.85 else (BAD if label else GOOD)
        words.append(rng.choice(pool))
    return " ".join(words), label


def encode(texts, vocab):
    rows = [[vocab["[CLS]"]] + [vocab[w] for w in t.split()] for t in texts]
    longest = max(len(r) for r in rows)
    ids = np.zeros((len(rows), longest), dtype="int32")
    mask = np.zeros_like(ids)
    for i, r in enumerate(rows):
        ids[i, :len(r)] = r
        mask[i, :len(r)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=5e-4)
    args = ap.parse_args()

    rng = random.Random(3)
    tf.keras.utils.set_random_seed(3)
    reviews = [write_review(rng) for _ in range(1000)]
    vocab = {w: i for i, w in enumerate(["[PAD]", "[CLS]"] + GOOD + BAD + FILL)}
    x = encode([r[0] for r in reviews], vocab)
    y = np.array([r[1] for r in reviews])

    config = DistilBertConfig(
        vocab_size=len(vocab),
        max_position_embeddings=32,
        dim=32, hidden_dim=64, n_layers=2, n_heads=2,
        num_labels=2,
    )
    model = TFDistilBertForSequenceClassification(config)
    train = tf.data.Dataset.from_tensor_slices(({k: v[:800] for k, v in x.items()}, y[:800]))
    test = tf.data.Dataset.from_tensor_slices(({k: v[800:] for k, v in x.items()}, y[800:])).batch(50)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(args.lr),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train.shuffle(800, seed=3).batch(16), validation_data=test, epochs=args.epochs, verbose=2)


if __name__ == "__main__":
    main()
