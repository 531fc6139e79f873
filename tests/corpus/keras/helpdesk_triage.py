#!/usr/bin/env python
"""Route helpdesk tickets to a team with a small DistilBERT (trained from scratch)."""
import argparse
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification, create_optimizer

TEAMS = ["network", "accounts", "hardware", "billing"]
TOPIC = {
    "network": "vpn wifi router dns proxy latency firewall disconnects ethernet signal".split(),
    "accounts": "password login locked reset username mfa token permission role email".split(),
    "hardware": "laptop screen keyboard battery printer dock mouse fan monitor charger".split(),
    "billing": "invoice refund charge payment card receipt vat subscription quote order".split(),
}
FILLER = ("hello hi the a my is since yesterday please help i cannot anymore after update "
          "it again today urgent thanks team we need and with still does not work").split()
PAD, UNK = 0, 1
MAX_LEN = 24


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--num_epochs", type=int, default=5)
    p.add_argument("--batch_size", type=int, default=32)
    p.add_argument("--learning_rate", type=float, default=1e-3)
    p.add_argument("--weight_decay", type=float, default=0.01)
    p.add_argument("--dim", type=int, default=64)
    p.add_argument("--seed", type=int, default=42)
    return p.parse_args()


def make_tickets(n, rng):
    texts, labels = [], []
    for _ in range(n):
        team = rng.integers(len(TEAMS))
        other = rng.choice([t for t in range(len(TEAMS)) if t != team])
        words = list(rng.choice(FILLER, rng.integers(6, 14)))
        words += list(rng.choice(TOPIC[TEAMS[team]], 3))
        words += list(rng.choice(TOPIC[TEAMS[other]], rng.integers(0, 3)))
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels.append(team)
    return texts, np.array(labels, dtype="int32")


def build_vocab(texts):
    words = sorted({w for t in texts for w in t.split()})
    return {w: i + 2 for i, w in enumerate(words)}


def encode(texts, vocab):
    ids = np.full((len(texts), MAX_LEN), PAD, dtype="int32")
    for row, t in zip(ids, texts):
        tok = [vocab.get(w, UNK) for w in t.split()][:MAX_LEN]
        row[:len(tok)] = tok
    return {"input_ids": ids, "attention_mask": (ids != PAD).astype("int32")}


def to_dataset(enc, labels, batch_size, shuffle=False):
    ds = tf.data.Dataset.from_tensor_slices((enc, labels))
    if shuffle:
        ds = ds.shuffle(len(labels))
    return ds.batch(batch_size).prefetch(tf.data.AUTOTUNE)


def main():
    args = parse_args()
    tf_keras.utils.set_random_seed(args.seed)
    texts, labels = make_tickets(2600, np.random.default_rng(args.seed))
    x_tr, x_te, y_tr, y_te = train_test_split(texts, labels, test_size=600, random_state=args.seed)
    x_tr, x_va, y_tr, y_va = train_test_split(x_tr, y_tr, test_size=300, random_state=args.seed)
    vocab = build_vocab(x_tr)
    train_ds = to_dataset(encode(x_tr, vocab), y_tr, args.batch_size, shuffle=True)
    val_ds = to_dataset(encode(x_va, vocab), y_va, args.batch_size)
    test_enc = encode(x_te, vocab)

    config = DistilBertConfig(
        vocab_size=len(vocab) + 2, dim=args.dim, hidden_dim=2 * args.dim, n_layers=1, n_heads=4,
        max_position_embeddings=MAX_LEN, num_labels=len(TEAMS), seq_classif_dropout=0.1,
    )
    model = TFDistilBertForSequenceClassification(config)

    num_train_steps = args.num_epochs
    optimizer, schedule = create_optimizer(
        init_lr=args.learning_rate,
        num_train_steps=num_train_steps,
        num_warmup_steps=0,
        weight_decay_rate=args.weight_decay,
    )
    model.compile(
        optimizer=optimizer,
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train_ds, validation_data=val_ds, epochs=args.num_epochs, verbose=2)

    logits = model.predict(test_enc, batch_size=100, verbose=0).logits
    pred = logits.argmax(-1)
    print("test accuracy {:.3f}  macro F1 {:.3f}  (majority {:.3f})".format(
        (pred == y_te).mean(), f1_score(y_te, pred, average="macro"),
        np.bincount(y_te).max() / len(y_te)))
    for i in range(3):
        print("%-10s <- %s" % (TEAMS[pred[i]], x_te[i]))


if __name__ == "__main__":
    main()
