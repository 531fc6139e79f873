"""Airline baggage desk: route free-text complaints to one of four teams with a tiny BERT."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import random

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification

SEED, BATCH, EPOCHS, MAX_LEN, PEAK_LR = 11, 32, 5, 20, 1e-3
random.seed(SEED)
np.random.seed(SEED)
tf_keras.utils.set_random_seed(SEED)

TEAMS = {
    "tracing": ["missing", "lost", "vanished", "untraced", "nowhere"],
    "damage": ["cracked", "torn", "dented", "broken", "scratched"],
    "delay": ["late", "overdue", "slow", "waiting", "delayed"],
    "refund": ["refund", "invoice", "compensation", "receipt", "payment"],
}
FILLER = "my suitcase bag flight desk agent airport we the after on arrival belt told and trolley from family hotel".split()


def make_note(team):
    words = random.choices(FILLER, k=random.randint(6, 14))
    for w in random.sample(TEAMS[team], 2):
        words.insert(random.randrange(len(words) + 1), w)
    return " ".join(words)


def make_corpus(n):
    names = list(TEAMS)
    y = np.random.randint(0, len(names), n)
    return [make_note(names[k]) for k in y], y.astype("int32")


def build_vocab(texts):
    words = sorted({w for t in texts for w in t.split()})
    return {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, **{w: i + 3 for i, w in enumerate(words)}}


def encode(texts, vocab):
    ids = np.zeros((len(texts), MAX_LEN), "int32")
    for r, t in enumerate(texts):
        row = [2] + [vocab.get(w, 1) for w in t.split()][: MAX_LEN - 1]
        ids[r, : len(row)] = row
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}


texts, labels = make_corpus(1500)
test_texts, test_labels = make_corpus(400)
vocab = build_vocab(texts)
train, test = encode(texts, vocab), encode(test_texts, vocab)

config = BertConfig(vocab_size=len(vocab), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=96, max_position_embeddings=MAX_LEN, num_labels=len(TEAMS))
model = TFBertForSequenceClassification(config)

steps_per_epoch = max(1, len(train) // BATCH)
schedule = tf_keras.optimizers.schedules.PolynomialDecay(PEAK_LR, EPOCHS * steps_per_epoch, end_learning_rate=0.0)
model.compile(optimizer=tf_keras.optimizers.Adam(schedule),
              loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
dataset = tf.data.Dataset.from_tensor_slices((train, labels)).shuffle(len(labels), seed=SEED).batch(BATCH)
model.fit(dataset, epochs=EPOCHS, verbose=2)

logits = np.concatenate([model({k: v[i:i + 100] for k, v in test.items()}).logits.numpy() for i in range(0, 400, 100)])
print(f"test accuracy {np.mean(logits.argmax(-1) == test_labels):.3f}")
