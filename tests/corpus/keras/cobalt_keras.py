import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification

tf.keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)

# Ticket routing on token ids: each of 4 teams has its own jargon, the rest is shared vocabulary
VOCAB, LENGTH, TEAMS = 200, 24, 4


def make(n):
    ids = rng.integers(60, VOCAB, size=(n, LENGTH))
    team = rng.integers(0, TEAMS, size=n)
    lens = rng.integers(10, LENGTH + 1, size=n)
    for r in range(n):
        spots = rng.choice(np.arange(1, lens[r]), 3, replace=False)
        ids[r, spots] = 10 + team[r] * 10 + rng.integers(0, 10, size=3)
    ids[:, 0] = 1
    mask = (np.arange(LENGTH) < lens[:, None]).astype("int32")
    return {"input_ids": (ids * mask).astype("int32"), "attention_mask": mask, "labels": team}


def to_dataset(columns, shuffle=False):
    ds = tf.data.Dataset.from_tensor_slices(columns)
    if shuffle:
        ds = ds.shuffle(2000)
    return ds.batch(32)


train, test = make(1600), make(400)
config = BertConfig(
    vocab_size=VOCAB, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=32, num_labels=TEAMS,
)
model = TFBertForSequenceClassification(config)
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(to_dataset(train, shuffle=True), epochs=5, verbose=2)

inputs = {k: v for k, v in test.items() if k != "labels"}
logits = model.predict(inputs, batch_size=64, verbose=0).logits
print("test accuracy:", float((logits.argmax(-1) == test["labels"]).mean()))
