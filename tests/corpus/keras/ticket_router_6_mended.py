import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification

QUEUES = {
    "billing": ["invoice", "refund", "charge", "payment", "card", "receipt"],
    "network": ["router", "wifi", "signal", "latency", "cable", "outage"],
    "account": ["password", "login", "email", "profile", "reset", "locked"],
}
FILLER = "hello please my the is not since yesterday again help with it a was still and team".split()

rng = np.random.default_rng(30)
tf_keras.utils.set_random_seed(30)


def write_ticket(queue):
    n = int(rng.integers(6, 22))
    words = list(rng.choice(FILLER, size=n))
    for pos in rng.choice(n, size=3, replace=False):
        words[pos] = str(rng.choice(QUEUES[queue]))
    return words


names = list(QUEUES)
labels = rng.integers(0, len(names), size=900)
tickets = [write_ticket(names[k]) for k in labels]

vocab = {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3}
for ticket in tickets:
    for w in ticket:
        vocab.setdefault(w, len(vocab))


def encode(ticket):
    ids = [vocab["[CLS]"]] + [vocab.get(w, 1) for w in ticket] + [vocab["[SEP]"]]
    return {"input_ids": ids, "attention_mask": [1] * len(ids)}


def stream(lo, hi):
    def gen():
        for ticket, k in zip(tickets[lo:hi], labels[lo:hi]):
            yield encode(ticket), k

    spec = (
        {
            "input_ids": tf.TensorSpec((None,), tf.int32),
            "attention_mask": tf.TensorSpec((None,), tf.int32),
        },
        tf.TensorSpec((), tf.int64),
    )
    return tf.data.Dataset.from_generator(gen, output_signature=spec)


train = stream(0, 700).cache().shuffle(700, seed=1).padded_batch(32)
test = stream(700, 900).padded_batch(50)

config = BertConfig(
    vocab_size=len(vocab),
    hidden_size=48,
    num_hidden_layers=1,
    num_attention_heads=4,
    intermediate_size=96,
    max_position_embeddings=32,
    num_labels=len(names),
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
model = TFBertForSequenceClassification(config)
model.compile(
    optimizer=tf_keras.optimizers.Adam(2e-3),
    loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train, epochs=3, verbose=2)
loss, acc = model.evaluate(test, verbose=0)
print(f"test loss {loss:.4f}  test accuracy {acc:.3f}  chance {1 / len(names):.3f}")
