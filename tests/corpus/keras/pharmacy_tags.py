"""Tag drug names, doses and frequencies in typed prescriptions."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse
import logging
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from transformers import BertConfig, BertTokenizerFast, TFBertForTokenClassification

logger = logging.getLogger("prescriptions")

TAGS = ["O", "DRUG", "DOSE", "FREQ"]
STEMS = ["amoxi", "predni", "sima", "rami", "meto", "clari", "levo", "ator", "ome", "pheny"]
SUFFIXES = ["cillin", "solone", "statin", "pril", "prolol", "thromycin", "floxacin", "prazole", "toin"]
UNITS = ["mg", "ml", "mcg"]
FREQS = ["daily", "twice", "nightly", "weekly", "hourly"]
WORDS = "give the patient take with food after meals for pain until review continue stop if rash start".split()


def write_line(rng):
    words, tags = [], []

    def put(word, tag):
        words.append(word)
        tags.append(TAGS.index(tag))

    for _ in range(rng.integers(1, 4)):
        put(rng.choice(WORDS), "O")
    for _ in range(rng.integers(1, 3)):
        put(rng.choice(STEMS) + rng.choice(SUFFIXES), "DRUG")
        if rng.random() < 0.8:
            put(str(rng.choice([5, 10, 20, 40, 250, 500])) + rng.choice(UNITS), "DOSE")
        if rng.random() < 0.8:
            put(rng.choice(FREQS), "FREQ")
        for _ in range(rng.integers(0, 4)):
            put(rng.choice(WORDS), "O")
    return words, tags


def build_tokenizer(folder):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces += STEMS + FREQS + WORDS + [str(n) for n in (5, 10, 20, 40, 250, 500)]
    pieces += ["##" + s for s in SUFFIXES + UNITS]
    path = Path(folder) / "vocab.txt"
    path.write_text("\n".join(dict.fromkeys(pieces)))
    return BertTokenizerFast(vocab_file=str(path), do_lower_case=True)


def encode(tokenizer, lines, max_length):
    enc = tokenizer([w for w, _ in lines], is_split_into_words=True, padding="max_length",
                    truncation=True, max_length=max_length, return_tensors="np")
    labels = np.full(enc["input_ids"].shape, -100, dtype="int32")
    for row, (_, tags) in enumerate(lines):
        previous = None
        for col, word in enumerate(enc.word_ids(row)):
            if word is not None and word != previous:
                labels[row, col] = tags[word]
            previous = word
    inputs = {k: enc[k].astype("int32") for k in ("input_ids", "attention_mask")}
    return inputs, labels


def build_model(args, tokenizer):
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=args.hidden, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=2 * args.hidden, max_position_embeddings=args.max_length,
        num_labels=len(TAGS), id2label=dict(enumerate(TAGS)), label2id={t: i for i, t in enumerate(TAGS)},
    )
    model = TFBertForTokenClassification(config)
    schedule = tf.keras.optimizers.schedules.CosineDecay(args.lr, args.epochs * (args.rows // args.batch_size))
    model.compile(
        optimizer=tf.keras.optimizers.Adam(schedule, clipnorm=1.0),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    return model


def scores(model, inputs, labels):
    pred = model.predict(inputs, batch_size=64, verbose=0).logits.argmax(-1)
    keep = labels != -100
    logger.info("token accuracy %.3f", (pred[keep] == labels[keep]).mean())
    for k, tag in enumerate(TAGS[1:], start=1):
        hit = ((pred == k) & (labels == k)).sum()
        precision = hit / max(((pred == k) & keep).sum(), 1)
        recall = hit / max((labels == k).sum(), 1)
        logger.info("  %-5s precision %.3f recall %.3f", tag, precision, recall)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=640)
    parser.add_argument("--max-length", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=29)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    tf.keras.utils.set_random_seed(args.seed)

    rng = np.random.default_rng(args.seed)
    lines = [write_line(rng) for _ in range(args.rows + 160)]
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = build_tokenizer(folder)
    x_train, y_train = encode(tokenizer, lines[: args.rows], args.max_length)
    x_test, y_test = encode(tokenizer, lines[args.rows:], args.max_length)

    train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train))
    train_ds = train_ds.shuffle(args.rows, seed=args.seed).batch(args.batch_size, drop_remainder=True)
    model = build_model(args, tokenizer)
    model.fit(train_ds, epochs=args.epochs, verbose=2)
    scores(model, x_test, y_test)


if __name__ == "__main__":
    main()
