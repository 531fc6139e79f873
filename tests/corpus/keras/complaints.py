import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

random.seed(1)
tf.keras.utils.set_random_seed(1)

GOOD = "lovely clean friendly quiet tasty warm helpful fresh".split()
BAD = "dirty rude noisy cold broken stale slow awful".split()
NEUTRAL = "the room was and staff very breakfast bed we it hotel had a our night".split()
vocab = {w: i + 4 for i, w in enumerate(GOOD + BAD + NEUTRAL)}
PAD, CLS, SEP, MAXLEN = 0, 1, 2, 20


def encode(words):
    ids = [CLS] + [vocab[w] for w in words][:MAXLEN - 2] + [SEP]
    return ids + [PAD] * (MAXLEN - len(ids)), [1] * len(ids) + [0] * (MAXLEN - len(ids))


def build(n):
    ids, masks, labels = [], [], []
    for _ in range(n):
        label = random.randint(0, 1)
        words = random.choices(NEUTRAL, k=random.randint(5, 14)) + random.choices(BAD if label else GOOD, k=2)
        random.shuffle(words)
        i, m = encode(words)
        ids.append(i), masks.append(m), labels.append(label)
    return {"input_ids": np.array(ids), "attention_mask": np.array(masks), "labels": np.array(labels)}


train, val = build(800), build(200)
train_ds = tf.data.Dataset.from_tensor_slices(train).shuffle(800).batch(32)
val_ds = tf.data.Dataset.from_tensor_slices(val).batch(64)

config = DistilBertConfig(vocab_size=len(vocab) + 4, dim=64, hidden_dim=128, n_layers=2, n_heads=4,
                          max_position_embeddings=32, num_labels=2)
model = TFDistilBertForSequenceClassification(config)
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
model.fit(train_ds, validation_data=val_ds, epochs=4, verbose=2)

logits = model.predict(val_ds, verbose=0).logits
print("val accuracy", (logits.argmax(-1) == val["labels"]).mean())
