"""Route short support tickets to a team with a small DistilBERT (TF / legacy Keras)."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import random

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

SEED = 11
random.seed(SEED)
np.random.seed(SEED)
tf.random.set_seed(SEED)

TEAMS = {
    "billing": ["invoice", "refund", "charge", "card", "payment", "vat", "receipt"],
    "network": ["router", "wifi", "vpn", "latency", "dns", "cable", "packet"],
    "accounts": ["password", "login", "email", "profile", "reset", "token", "username"],
    "hardware": ["laptop", "screen", "keyboard", "battery", "fan", "charger", "mouse"],
    "shipping": ["parcel", "courier", "address", "delivery", "tracking", "customs", "box"],
    "sales": ["quote", "discount", "contract", "renewal", "licence", "seat", "trial"],
}
FILLER = ("the my a please help with is not since monday it again can you look at and but "
          "still today we our office customer says there was problem thanks").split()

LABELS = list(TEAMS)
WORDS = ["[PAD]", "[CLS]", "[SEP]"] + sorted(set(FILLER) | {w for ws in TEAMS.values() for w in ws})
W2I = {w: i for i, w in enumerate(WORDS)}
MAX_LEN = 24


def make_ticket():
    label = random.randrange(len(LABELS))
    other = random.randrange(len(LABELS))
    n = random.randint(8, 20)
    words = [random.choice(FILLER) for _ in range(n)]
    for pos in random.sample(range(n), 3):
        words[pos] = random.choice(TEAMS[LABELS[label]])
    if other != label:
        words[random.randrange(n)] = random.choice(TEAMS[LABELS[other]])
    return words, label


def encode(words):
    ids = [W2I["[CLS]"]] + [W2I[w] for w in words][: MAX_LEN - 2] + [W2I["[SEP]"]]
    mask = [1] * len(ids) + [0] * (MAX_LEN - len(ids))
    return ids + [0] * (MAX_LEN - len(ids)), mask


def build_arrays(n):
    ids, masks, ys = [], [], []
    for _ in range(n):
        words, y = make_ticket()
        i, m = encode(words)
        ids.append(i)
        masks.append(m)
        ys.append(y)
    feats = {"input_ids": np.array(ids, "int32"), "attention_mask": np.array(masks, "int32")}
    return feats, np.array(ys, "int32")


train_x, train_y = build_arrays(2400)
val_x, val_y = build_arrays(500)

train_ds = tf.data.Dataset.from_tensor_slices((train_x, train_y)).shuffle(2400, seed=SEED).batch(32)
val_ds = tf.data.Dataset.from_tensor_slices((val_x, val_y)).batch(100)

config = DistilBertConfig(
    vocab_size=len(WORDS), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
    max_position_embeddings=32, num_labels=len(LABELS), pad_token_id=0, initializer_range=0.05,
)
model = TFDistilBertForSequenceClassification(config)
model.compile(
    optimizer=tf.keras.optimizers.Adam(5e-4),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
hist = model.fit(train_ds, validation_data=val_ds, epochs=5, verbose=2)

logits = model.predict(val_ds, verbose=0).logits
pred = logits.argmax(-1)
for k, name in enumerate(LABELS):
    sel = val_y == k
    print(f"{name:10s} recall {np.mean(pred[sel] == k):.3f}  (n={sel.sum()})")
print("val accuracy", round(float(np.mean(pred == val_y)), 4))
