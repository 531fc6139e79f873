"""Tiny GPT-2 (TensorFlow, from scratch) on synthetic recipe sentences."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import argparse
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

VERBS = ["chop", "boil", "fry", "peel", "grate", "roast"]
FOOD = {"chop": ["onions", "leeks"], "boil": ["rice", "eggs"], "fry": ["bacon", "fish"],
        "peel": ["carrots", "apples"], "grate": ["cheese", "ginger"], "roast": ["beef", "nuts"]}
TOOLS = {"chop": "knife", "boil": "pot", "fry": "pan", "peel": "peeler",
         "grate": "grater", "roast": "oven"}
JOIN = ["then", "and", "after that"]


def recipe(rng):
    parts = []
    for _ in range(rng.integers(2, 4)):
        v = VERBS[rng.integers(len(VERBS))]
        f = FOOD[v][rng.integers(2)]
        parts.append(f"{v} the {f} in the {TOOLS[v]}" if v in ("boil", "fry", "roast")
                     else f"{v} the {f} with the {TOOLS[v]}")
    out = parts[0]
    for p in parts[1:]:
        out += " " + JOIN[rng.integers(3)] + " " + p
    return out + ". "


def corpus(n, rng):
    return "".join(recipe(rng) for _ in range(n))


def encode(text, stoi, block):
    ids = np.array([stoi[c] for c in text], dtype=np.int32)
    n = len(ids) // block
    return ids[: n * block].reshape(n, block)


def next_char_scores(model, ids):
    logits = model(input_ids=ids, training=False).logits[:, :-1]
    target = ids[:, 1:]
    ce = tf.keras.losses.sparse_categorical_crossentropy(target, logits, from_logits=True)
    acc = np.mean(logits.numpy().argmax(-1) == target)
    return float(tf.reduce_mean(ce)), acc


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--block", type=int, default=64)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    tf_keras.utils.set_random_seed(2)
    rng = np.random.default_rng(2)

    train_text, test_text = corpus(1100, rng), corpus(120, rng)
    chars = sorted(set(train_text + test_text))
    stoi = {c: i for i, c in enumerate(chars)}
    train, test = encode(train_text, stoi, args.block), encode(test_text, stoi, args.block)
    print("vocab", len(chars), "train blocks", train.shape, "test blocks", test.shape)

    config = GPT2Config(vocab_size=len(chars), n_positions=args.block, n_embd=64, n_layer=2,
                        n_head=4, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=0, eos_token_id=0)
    model = TFGPT2LMHeadModel(config)

    def to_features(ids):
        return {"input_ids": ids, "labels": ids}

    ds = (tf.data.Dataset.from_tensor_slices(train).shuffle(len(train))
          .map(to_features).batch(args.batch, drop_remainder=True).prefetch(1))
    steps = len(ds) * args.epochs
    lr = tf_keras.optimizers.schedules.PolynomialDecay(args.lr, steps, end_learning_rate=1e-4)
    model.compile(optimizer=tf_keras.optimizers.Adam(lr, clipnorm=1.0))
    model.fit(ds, epochs=args.epochs, verbose=2)

    freq = np.bincount(train.ravel(), minlength=len(chars)) / train.size
    unigram = -np.log(freq[test[:, 1:]]).mean()
    ce, acc = next_char_scores(model, test)
    print(f"unigram test loss {unigram:.3f}")
    print(f"test next-char loss {ce:.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
