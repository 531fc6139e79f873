import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import random
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForTokenClassification, set_seed

set_seed(8)
TAGS = ["O", "PER", "CITY", "DATE"]
PEOPLE = "anna bruno carla dmitri elena farid greta hugo".split()
CITIES = "lisbon oslo turin ghent riga porto malmo graz".split()
DATES = "monday tuesday friday sunday january april july october".split()
TEMPLATES = [
    "{P} moved to {C} in {D}",
    "on {D} the mayor of {C} met {P} and {P}",
    "the train from {C} to {C} is late again",
    "{P} will open a shop in {C} next {D}",
    "nobody in {C} saw {P} on {D} or {D}",
]
vocab = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2}


def sentence():
    ids, tags = [1], [-100]
    for token in random.choice(TEMPLATES).split():
        tag = {"{P}": 1, "{C}": 2, "{D}": 3}.get(token, 0)
        if tag:
            token = random.choice([PEOPLE, CITIES, DATES][tag - 1])
        ids.append(vocab.setdefault(token, len(vocab)))
        tags.append(tag)
    return {"input_ids": ids + [2], "attention_mask": [1] * (len(ids) + 1), "labels": tags + [-100]}


def pad(rows, length=16):
    fill = {"input_ids": 0, "attention_mask": 0, "labels": -100}
    return {k: np.array([r[k] + [v] * (length - len(r[k])) for r in rows]) for k, v in fill.items()}


train, test = pad([sentence() for _ in range(1200)]), pad([sentence() for _ in range(300)])
train_ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1200).batch(32)
test_ds = tf.data.Dataset.from_tensor_slices(test).batch(50)

config = DistilBertConfig(vocab_size=len(vocab), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                          max_position_embeddings=32, num_labels=len(TAGS))
model = TFDistilBertForTokenClassification(config)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
model.fit(train_ds, validation_data=test_ds, epochs=5, verbose=2)

pred = model.predict(test_ds, verbose=0).logits.argmax(-1)
for i, tag in enumerate(TAGS):
    there = test["labels"] == i
    print(f"{tag:5s} recall {(pred[there] == i).mean():.3f}  n={there.sum()}")
