"""Route support tickets to a desk with a small DistilBERT (TF)."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import random
import re
from collections import Counter

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

random.seed(4)
tf.keras.utils.set_random_seed(4)

DESKS = {
    "billing": "invoice refund charge card payment receipt price discount".split(),
    "network": "router wifi signal cable outage latency modem antenna".split(),
    "account": "password login username locked email profile reset captcha".split(),
    "delivery": "parcel courier address late tracking box damaged depot".split(),
}
FILLER = ("hello please i have a problem with my the it is not working since yesterday can you "
          "help me thanks today again we need this soon and still no answer from your team").split()
NAMES = list(DESKS)


def write_ticket(desk):
    words = random.choices(FILLER, k=random.randint(9, 15))
    for w in random.choices(DESKS[desk], k=2):
        words.insert(random.randrange(len(words) + 1), w)
    other = random.choice(NAMES)
    words.insert(random.randrange(len(words) + 1), random.choice(DESKS[other]))
    # how people type: capitals, commas, exclamation marks
    typed = []
    for w in words:
        if random.random() < 0.35:
            w = random.choice([w.capitalize(), w.upper()])
        if random.random() < 0.4:
            w += random.choice([",", ".", "!", "..."])
        typed.append(w)
    return " ".join(typed)


def clean(text):
    return re.sub(r"[^a-z ]", "", text.lower())


def draw(n):
    labels = [random.randrange(len(NAMES)) for _ in range(n)]
    return [write_ticket(NAMES[k]) for k in labels], np.array(labels)


train_text, train_y = draw(2000)
val_text, val_y = draw(500)

train_text = [clean(t) for t in train_text]
counts = Counter(w for t in train_text for w in t.split())
vocab = {w: i + 3 for i, (w, _) in enumerate(counts.most_common())}
PAD, CLS, UNK, MAXLEN = 0, 1, 2, 20


def to_ids(texts):
    ids = np.full((len(texts), MAXLEN), PAD, dtype="int32")
    for i, t in enumerate(texts):
        row = [CLS] + [vocab.get(w, UNK) for w in t.split()]
        ids[i, : len(row[:MAXLEN])] = row[:MAXLEN]
    return {"input_ids": ids, "attention_mask": (ids != PAD).astype("int32")}


config = DistilBertConfig(
    vocab_size=len(vocab) + 3, dim=64, hidden_dim=128, n_layers=2, n_heads=4,
    max_position_embeddings=MAXLEN, num_labels=len(NAMES), seq_classif_dropout=0.1,
)
model = TFDistilBertForSequenceClassification(config)
model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
train_ds = tf.data.Dataset.from_tensor_slices((to_ids(train_text), train_y)).shuffle(2000).batch(32)
val_ds = tf.data.Dataset.from_tensor_slices((to_ids(val_text), val_y)).batch(100)
model.fit(train_ds, validation_data=val_ds, epochs=5, verbose=2)

logits = model.predict(val_ds, verbose=0).logits
pred = logits.argmax(-1)
for k, name in enumerate(NAMES):
    print(f"{name:9s} recall {np.mean(pred[val_y == k] == k):.3f}")
print("validation accuracy", np.mean(pred == val_y))
