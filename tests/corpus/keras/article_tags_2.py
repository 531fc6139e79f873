"""Tag short news items with one or more desks, small DistilBERT trained from scratch."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertModel

tf_keras.utils.set_random_seed(4)
rng = np.random.default_rng(4)

DESKS = {
    "sport": "match goal coach league striker season referee stadium",
    "money": "bank shares inflation market profit loan budget trader",
    "health": "hospital nurse vaccine patient clinic doctor surgery fever",
    "weather": "storm rain flood drought frost forecast wind heatwave",
    "politics": "minister vote senate party election bill mayor treaty",
    "science": "telescope protein orbit laboratory genome particle fossil probe",
    "culture": "novel gallery opera painter theatre sculpture poet festival",
}
NAMES = list(DESKS)
FILLER = "the a of in on and for with after before said today new over from to near while".split()
words = ["[PAD]", "[CLS]"] + FILLER + [w for v in DESKS.values() for w in v.split()]
vocab = {w: i for i, w in enumerate(words)}
LENGTH = 26


def write_item():
    k = rng.choice([1, 2, 3], p=[0.3, 0.45, 0.25])
    desks = rng.choice(len(NAMES), size=k, replace=False)
    body = []
    for d in desks:
        body += list(rng.choice(DESKS[NAMES[d]].split(), size=3))
    body += list(rng.choice(FILLER, size=rng.integers(6, 14)))
    rng.shuffle(body)
    ids = [vocab["[CLS]"]] + [vocab[w] for w in body]
    row = np.zeros(LENGTH, "int32")
    row[:len(ids)] = ids
    return row, np.isin(np.arange(len(NAMES)), desks).astype("float32")


items = [write_item() for _ in range(2600)]
ids = np.stack([a for a, _ in items])
tags = np.stack([b for _, b in items])
mask = (ids > 0).astype("int32")


class Tagger(tf_keras.Model):
    def __init__(self, config, n_tags):
        super().__init__()
        self.encoder = TFDistilBertModel(config)
        self.hidden = tf_keras.layers.Dense(64, activation="relu")
        self.out = tf_keras.layers.Dense(n_tags)

    def call(self, inputs, training=False):
        h = self.encoder(inputs["ids"], attention_mask=inputs["mask"], training=training).last_hidden_state
        return self.out(self.hidden(h[:, 0]))


config = DistilBertConfig(vocab_size=len(words), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                          max_position_embeddings=32, dropout=0.05, attention_dropout=0.05)
model = Tagger(config, len(NAMES))
model.compile(
    optimizer=tf_keras.optimizers.Adam(1e-3),
    loss=tf_keras.losses.CategoricalCrossentropy(from_logits=True),
)
cut = 2200
train = {"ids": ids[:cut], "mask": mask[:cut]}
test = {"ids": ids[cut:], "mask": mask[cut:]}
model.fit(train, tags[:cut], batch_size=32, epochs=5, verbose=2, validation_data=(test, tags[cut:]))

hit = tf.sigmoid(model.predict(test, verbose=0)).numpy() > 0.5
gold = tags[cut:] > 0.5
tp = (hit & gold).sum()
print("micro F1      %.3f" % (2 * tp / (hit.sum() + gold.sum())))
print("all tags right %.3f" % (hit == gold).all(1).mean())
print("tags per item: predicted %.2f, true %.2f" % (hit.sum(1).mean(), gold.sum(1).mean()))
