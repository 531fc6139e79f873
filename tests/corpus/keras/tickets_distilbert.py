# Support tickets -> queue, with a very small DistilBERT trained from scratch
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

tf.keras.utils.set_random_seed(19)
rng = np.random.default_rng(19)

topics = {
    "billing": "invoice charge refund payment card price bill receipt".split(),
    "login": "password account email code reset locked username signin".split(),
    "shipping": "parcel courier delivery address tracking late box package".split(),
    "bug": "crash error screen freeze update version button broken".split(),
}
filler = "hello please my the is was a with about today again help i have since and to it".split()
names = list(topics)


def ticket():
    k = rng.integers(len(names))
    words = list(rng.choice(filler, rng.integers(6, 16)))
    for w in rng.choice(topics[names[k]], 2, replace=False):
        words.insert(rng.integers(len(words)), w)
    if rng.random() < 0.4:   # one word of another queue
        other = names[(k + rng.integers(1, 4)) % 4]
        words.insert(rng.integers(len(words)), rng.choice(topics[other]))
    return words, k


rows = [ticket() for _ in range(2400)]
vocab = {w: i + 2 for i, w in enumerate(sorted({w for ws, _ in rows for w in ws}))}
MAXLEN = 20
ids = np.zeros((len(rows), MAXLEN), dtype="int32")
mask = np.zeros_like(ids)
for i, (ws, _) in enumerate(rows):
    seq = [1] + [vocab[w] for w in ws][: MAXLEN - 1]
    ids[i, : len(seq)] = seq
    mask[i, : len(seq)] = 1
labels = np.array([k for _, k in rows], dtype="int32")


def dataset(sl, training):
    ds = tf.data.Dataset.from_tensor_slices(
        {"input_ids": ids[sl], "attention_mask": mask[sl], "labels": labels[sl]}
    )
    return (ds.shuffle(2000, seed=1) if training else ds).batch(32)


config = DistilBertConfig(vocab_size=len(vocab) + 2, dim=32, n_layers=2, n_heads=4, hidden_dim=64,
                          max_position_embeddings=MAXLEN, num_labels=len(names),
                          initializer_range=0.1)
model = TFDistilBertForSequenceClassification(config)
model.compile(optimizer=tf.keras.optimizers.Adam(5e-4))
model.fit(dataset(slice(0, 2000), True), epochs=8, validation_data=dataset(slice(2000, 2400), False), verbose=2)

logits = model.predict(
    {"input_ids": ids[2000:], "attention_mask": mask[2000:]}, batch_size=32, verbose=0
).logits
print("test accuracy:", (logits.argmax(-1) == labels[2000:]).mean())
