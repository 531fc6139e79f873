"""Routes short call transcripts to a department with a small DistilBERT trained from scratch."""
import argparse
import random
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

DEPARTMENTS = ["billing", "repairs", "moving", "cancel"]
PHRASES = {
    "billing": ["charged twice", "invoice is wrong", "refund my payment", "direct debit failed", "price went up"],
    "repairs": ["line is dead", "router keeps blinking", "no dial tone", "noise on the line", "engineer never came"],
    "moving": ["new address next month", "transfer the line", "moving flat soon", "keep my number", "house move date"],
    "cancel": ["end my contract", "close the account", "leave for another provider", "stop the service", "notice period"],
}
OPENERS = ["hello", "hi there", "good morning", "yes hello", "um hi", "could you help me"]
FILLERS = ["please", "as soon as possible", "i already called", "thank you", "it is urgent", "my name is smith", "again"]


@dataclass
class Settings:
    epochs: int = 5
    batch_size: int = 32
    lr: float = 5e-4
    max_len: int = 24
    rows: int = 1600


class Vocabulary:
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]

    def __init__(self, texts):
        self.words = sorted({w for t in texts for w in t.split()})
        self.index = {w: i for i, w in enumerate(self.specials + self.words)}

    def __len__(self):
        return len(self.words)

    def encode(self, text, max_len):
        ids = [self.index.get(w, 1) for w in text.split()][: max_len - 2]
        ids = [2] + ids + [3]
        mask = [1] * len(ids) + [0] * (max_len - len(ids))
        return ids + [0] * (max_len - len(ids)), mask


def make_calls(n, rng):
    texts, labels = [], []
    for _ in range(n):
        k = rng.randrange(len(DEPARTMENTS))
        parts = [rng.choice(OPENERS), rng.choice(PHRASES[DEPARTMENTS[k]])]
        parts += rng.sample(FILLERS, rng.randint(0, 2))
        texts.append(" ".join(parts))
        labels.append(k)
    return texts, labels


def to_dataset(texts, labels, vocab, cfg, training):
    ids, masks = zip(*(vocab.encode(t, cfg.max_len) for t in texts))
    features = {"input_ids": np.array(ids, "int32"), "attention_mask": np.array(masks, "int32")}
    ds = tf.data.Dataset.from_tensor_slices((features, np.array(labels, "int32")))
    if training:
        ds = ds.shuffle(len(labels), seed=3)
    return ds.batch(cfg.batch_size).prefetch(2)


def build(vocab, cfg):
    config = DistilBertConfig(
        vocab_size=len(vocab),
        max_position_embeddings=cfg.max_len,
        dim=64,
        hidden_dim=128,
        n_layers=2,
        n_heads=4,
        num_labels=len(DEPARTMENTS),
    )
    model = TFDistilBertForSequenceClassification(config)
    model.compile(
        optimizer=tf_keras.optimizers.Adam(cfg.lr),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=Settings.epochs)
    parser.add_argument("--lr", type=float, default=Settings.lr)
    args = parser.parse_args()
    cfg = Settings(epochs=args.epochs, lr=args.lr)

    tf_keras.utils.set_random_seed(11)
    texts, labels = make_calls(cfg.rows, random.Random(11))
    cut = int(0.85 * cfg.rows)
    vocab = Vocabulary(texts[:cut])
    train = to_dataset(texts[:cut], labels[:cut], vocab, cfg, True)
    test = to_dataset(texts[cut:], labels[cut:], vocab, cfg, False)

    model = build(vocab, cfg)
    model.fit(train, validation_data=test, epochs=cfg.epochs, verbose=2)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.3f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
