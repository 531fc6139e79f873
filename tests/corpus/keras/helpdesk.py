import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import random
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertModel, set_seed

set_seed(5)
QUEUES = ["billing", "network", "hardware"]
WORDS = {
    "billing": "invoice refund charge payment card receipt subscription".split(),
    "network": "wifi router vpn latency dns cable offline".split(),
    "hardware": "keyboard screen fan battery dock hinge charger".split(),
}
COMMON = "please help my the is not working since yesterday again with and it a".split()

vocab = {w: i + 3 for i, w in enumerate(sorted({*COMMON, *sum(WORDS.values(), [])}))}
PAD, CLS, SEP = 0, 1, 2
MAX_LEN = 20


def ticket():
    y = random.randrange(3)
    words = random.choices(COMMON, k=random.randint(4, 12)) + random.choices(WORDS[QUEUES[y]], k=2)
    random.shuffle(words)
    return words, y


def encode(words):
    ids = [CLS] + [vocab[w] for w in words] + [SEP]
    mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
    return ids + [PAD] * (MAX_LEN - len(ids)), mask


rows = [ticket() for _ in range(1600)]
ids, masks = map(np.array, zip(*(encode(w) for w, _ in rows)))
labels = np.array([y for _, y in rows])


def make(lo, hi, shuffle):
    ds = tf.data.Dataset.from_tensor_slices({
        "input_ids": ids[lo:hi], "attention_mask": masks[lo:hi], "labels": labels[lo:hi]})
    return (ds.shuffle(hi - lo) if shuffle else ds).batch(32)


train_ds, test_ds = make(0, 1280, True), make(1280, 1600, False)

config = DistilBertConfig(vocab_size=len(vocab) + 3, dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=32)
input_ids = tf.keras.Input((MAX_LEN,), dtype="int32", name="input_ids")
attention_mask = tf.keras.Input((MAX_LEN,), dtype="int32", name="attention_mask")
hidden = TFDistilBertModel(config)(input_ids, attention_mask=attention_mask).last_hidden_state
hidden = tf.keras.layers.Dropout(0.1)(hidden[:, 0])
logits = tf.keras.layers.Dense(len(QUEUES))(hidden)
model = tf.keras.Model({"input_ids": input_ids, "attention_mask": attention_mask}, logits)

model.compile(optimizer=tf.keras.optimizers.Adam(1e-3),
              loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(train_ds, validation_data=test_ds, epochs=4, verbose=2)

pred = model.predict(test_ds, verbose=0).argmax(-1)
for i, queue in enumerate(QUEUES):
    print(queue, "recall", round((pred[labels[1280:] == i] == i).mean(), 3))
