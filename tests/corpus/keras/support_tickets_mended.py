"""Route support tickets to a desk with a small DistilBERT."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

SEED = 11
MAXLEN = 20
DESKS = {
    "billing": "invoice charge refund card payment receipt".split(),
    "network": "router wifi cable speed outage signal".split(),
    "account": "password login email profile username lock".split(),
    "hardware": "screen battery keyboard fan charger disk".split(),
    "delivery": "parcel courier address late package tracking".split(),
    "legal": "contract privacy terms consent policy clause".split(),
}
FILLER = "the my a is was since yesterday please help with and it again not still we our this when on".split()
names = list(DESKS)
words = ["[PAD]", "[CLS]", "[SEP]"] + FILLER + [w for ws in DESKS.values() for w in ws]
tok = {w: i for i, w in enumerate(words)}


def make_ticket(rng):
    y = rng.integers(len(names))
    other = rng.integers(len(names))
    n = rng.integers(7, 16)
    text = list(rng.choice(FILLER, n))
    for _ in range(3):
        text[rng.integers(n)] = rng.choice(DESKS[names[y]])
    if rng.random() < 0.5:
        text[rng.integers(n)] = rng.choice(DESKS[names[other]])
    return text, y


def encode(texts):
    ids = np.zeros((len(texts), MAXLEN), np.int32)
    mask = np.zeros_like(ids)
    for i, t in enumerate(texts):
        row = [tok["[CLS]"]] + [tok[w] for w in t] + [tok["[SEP]"]]
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return {"input_ids": ids, "attention_mask": mask}


rng = np.random.default_rng(SEED)
tf.keras.utils.set_random_seed(SEED)
pairs = [make_ticket(rng) for _ in range(2600)]
X = encode([t for t, _ in pairs])
Y = np.array([y for _, y in pairs], np.int32)
cut = 2000
train = tf.data.Dataset.from_tensor_slices(({k: v[:cut] for k, v in X.items()}, Y[:cut])).shuffle(cut).batch(32)
valid = tf.data.Dataset.from_tensor_slices(({k: v[cut:] for k, v in X.items()}, Y[cut:])).batch(100)

cfg = DistilBertConfig(
    vocab_size=len(words), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
    max_position_embeddings=32, num_labels=len(names),
)
model = TFDistilBertForSequenceClassification(cfg)
model.compile(
    optimizer=tf.keras.optimizers.Adam(5e-4),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train, validation_data=valid, epochs=5, verbose=2)

logits = model.predict(valid, verbose=0).logits
acc = float((logits.argmax(-1) == Y[cut:]).mean())
print(f"desk accuracy on held-out tickets: {acc:.3f}")
