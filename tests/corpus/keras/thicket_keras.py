import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForTokenClassification

random.seed(2)
tf.keras.utils.set_random_seed(2)

# tiny NER corpus: O, PER, LOC, ORG
PEOPLE = ["anna", "boris", "chen", "dora", "emil", "farah"]
PLACES = ["paris", "lagos", "quito", "oslo", "kyoto"]
FIRMS = ["acme", "globex", "initech", "umbrella"]
PATTERNS = [
    "PER lives in LOC", "PER works for ORG in LOC", "ORG opened an office in LOC last year",
    "yesterday PER met PER at ORG", "the mayor of LOC thanked ORG", "ORG hired PER",
]
pools = {"PER": (PEOPLE, 1), "LOC": (PLACES, 2), "ORG": (FIRMS, 3)}


def sentence():
    words, tags = [], []
    for w in random.choice(PATTERNS).split():
        pool, tag = pools.get(w, ([w], 0))
        words.append(random.choice(pool))
        tags.append(tag)
    return words, tags


corpus = [sentence() for _ in range(1500)]
vocab = {w: i + 2 for i, w in enumerate(sorted({w for words, _ in corpus for w in words}))}
MAXLEN = 10


def encode(examples):
    ids = np.zeros((len(examples), MAXLEN), "int32")
    mask = np.zeros((len(examples), MAXLEN), "int32")
    labels = np.full((len(examples), MAXLEN), -100, "int32")
    for r, (words, tags) in enumerate(examples):
        ids[r, : len(words)] = [vocab[w] for w in words]
        mask[r, : len(words)] = 1
        labels[r, : len(tags)] = tags
    return {"input_ids": ids, "attention_mask": mask}, labels


train_x, train_y = encode(corpus[:1200])
test_x, test_y = encode(corpus[1200:])
train_ds = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(1200).batch(32)

config = DistilBertConfig(vocab_size=len(vocab) + 2, dim=32, n_layers=2, n_heads=4, hidden_dim=64,
                          max_position_embeddings=16, num_labels=4)
model = TFDistilBertForTokenClassification(config)
model.compile(
    optimizer=tf.keras.optimizers.Adam(2e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(train_ds, epochs=4, verbose=2)

pred = model.predict(test_x, batch_size=64, verbose=0).logits.argmax(-1)
keep = test_y != -100
print("token accuracy:", float((pred == test_y)[keep].mean()))
print("entity accuracy:", float((pred == test_y)[keep & (test_y > 0)].mean()))
