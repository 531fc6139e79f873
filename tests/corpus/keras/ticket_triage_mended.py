"""Route support tickets to a team with a small DistilBERT (TF)."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import argparse
import random

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

TEAMS = {
    "billing": "invoice refund charge card payment price receipt tax".split(),
    "network": "wifi router slow vpn cable signal disconnect ping".split(),
    "account": "password login locked email reset profile username delete".split(),
    "delivery": "parcel late address courier tracking lost box driver".split(),
}
FILLER = "hello please i my the is was again help with since yesterday today cannot it and your team thanks very".split()
WORDS = ["[PAD]", "[CLS]", "[UNK]"] + FILLER + sum(TEAMS.values(), [])
IDS = {w: k for k, w in enumerate(WORDS)}
MAX_LEN = 24


def write_ticket(rng):
    team = rng.randrange(len(TEAMS))
    names = list(TEAMS)
    n = rng.randint(8, MAX_LEN - 2)
    words = [rng.choice(FILLER) for _ in range(n)]
    for _ in range(3):
        words[rng.randrange(n)] = rng.choice(TEAMS[names[team]])
    other = names[rng.randrange(len(names))]
    words[rng.randrange(n)] = rng.choice(TEAMS[other])
    return words, team


def encode(tickets):
    ids = np.zeros((len(tickets), MAX_LEN), np.int32)
    for k, (words, _) in enumerate(tickets):
        seq = [1] + [IDS.get(w, 2) for w in words]
        ids[k, :len(seq)] = seq
    labels = np.array([t for _, t in tickets], np.int32)
    return {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int32)}, labels


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--train-size", type=int, default=2400)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    return ap.parse_args()


def main():
    args = parse()
    tf.keras.utils.set_random_seed(13)
    rng = random.Random(13)
    x, y = encode([write_ticket(rng) for _ in range(args.train_size)])
    xv, yv = encode([write_ticket(rng) for _ in range(500)])
    train = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(len(y)).batch(args.batch)
    valid = tf.data.Dataset.from_tensor_slices((xv, yv)).batch(100)

    config = DistilBertConfig(vocab_size=len(WORDS), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                              max_position_embeddings=MAX_LEN, num_labels=len(TEAMS),
                              initializer_range=0.1)
    model = TFDistilBertForSequenceClassification(config)

    schedule = tf.keras.optimizers.schedules.PolynomialDecay(
        initial_learning_rate=args.lr,
        decay_steps=args.epochs * len(train),
        end_learning_rate=0.0,
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(schedule),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=valid, epochs=args.epochs, verbose=2)
    logits = model.predict(valid, verbose=0).logits
    print("routed rightly:", round(float((logits.argmax(-1) == yv).mean()), 4))


if __name__ == "__main__":
    main()
