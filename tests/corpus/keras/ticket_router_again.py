import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("USE_TORCH", "0")
import random
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFAutoModelForSequenceClassification, create_optimizer

QUEUES = ["billing", "delivery", "login", "hardware"]
WORDS = {
    "billing": "invoice charged refund card payment twice amount".split(),
    "delivery": "parcel courier late tracking address arrived box".split(),
    "login": "password reset account locked email code sign".split(),
    "hardware": "screen battery cable broken noise heat charger".split(),
}
FILLER = "hello please i my the was and today again still help with it you can not have since".split()


@dataclass
class TrainConfig:
    epochs: int = 5
    batch_size: int = 32
    peak_lr: float = 5e-4
    weight_decay: float = 0.01
    warmup_steps: int = 10_000
    max_len: int = 24
    seed: int = 4


def write_ticket(rng):
    q = rng.randrange(len(QUEUES))
    n = rng.randint(8, 20)
    words = [rng.choice(FILLER) for _ in range(n)]
    for _ in range(rng.randint(2, 3)):
        words[rng.randrange(n)] = rng.choice(WORDS[QUEUES[q]])
    return words, q


class WordIndex:
    def __init__(self):
        self.table = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
        for w in FILLER + [w for ws in WORDS.values() for w in ws]:
            self.table.setdefault(w, len(self.table))

    def encode(self, tickets, max_len):
        ids = np.zeros((len(tickets), max_len), "int32")
        for row, words in enumerate(tickets):
            seq = [2] + [self.table.get(w, 1) for w in words][: max_len - 2] + [3]
            ids[row, : len(seq)] = seq
        return {"input_ids": ids, "attention_mask": (ids != 0).astype("int32")}


def to_dataset(enc, labels, batch, shuffle):
    ds = tf.data.Dataset.from_tensor_slices((enc, labels))
    if shuffle:
        ds = ds.shuffle(len(labels), seed=1)
    return ds.batch(batch)


def build(cfg, vocab, train_steps):
    model = TFAutoModelForSequenceClassification.from_config(
        BertConfig(
            vocab_size=vocab,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=128,
            max_position_embeddings=cfg.max_len,
            num_labels=len(QUEUES),
        )
    )
    optimizer, _ = create_optimizer(
        init_lr=cfg.peak_lr,
        num_train_steps=train_steps,
        num_warmup_steps=cfg.warmup_steps,
        weight_decay_rate=cfg.weight_decay,
    )
    loss = tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"])
    return model


def main():
    cfg = TrainConfig()
    tf_keras.utils.set_random_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    tickets, labels = zip(*(write_ticket(rng) for _ in range(1500)))
    labels = np.array(labels, "int32")
    index = WordIndex()
    cut = 1200
    train = to_dataset(index.encode(tickets[:cut], cfg.max_len), labels[:cut], cfg.batch_size, True)
    test = to_dataset(index.encode(tickets[cut:], cfg.max_len), labels[cut:], cfg.batch_size, False)
    model = build(cfg, len(index.table), len(train) * cfg.epochs)
    model.fit(train, epochs=cfg.epochs, validation_data=test, verbose=2)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"test loss {loss:.3f} accuracy {acc:.3f} over {len(QUEUES)} queues")


if __name__ == "__main__":
    main()
