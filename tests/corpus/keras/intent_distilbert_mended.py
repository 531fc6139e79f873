"""Intent detection for a small chatbot; DistilBERT architecture trained from scratch."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

tf_keras.utils.set_random_seed(13)
rng = np.random.default_rng(13)

INTENTS = {
    "balance": "balance account money left how much savings statement".split(),
    "transfer": "send transfer pay move wire friend rent".split(),
    "card": "card lost stolen block pin replace freeze".split(),
    "loan": "loan mortgage interest rate borrow apply credit".split(),
    "branch": "branch open hours address near saturday visit".split(),
}
FILLER = "i want to please the my a can you me now is it what do for hello bank".split()
words = ["[PAD]", "[CLS]", "[SEP]"] + sorted(set(FILLER) | {w for ws in INTENTS.values() for w in ws})
word_id = {w: i for i, w in enumerate(words)}
MAX_LEN = 16


def utterance(intent):
    keys = list(rng.choice(INTENTS[intent], 2, replace=False))
    tokens = keys + list(rng.choice(FILLER, rng.integers(3, 11)))
    rng.shuffle(tokens)
    return tokens


def encode(tokens):
    ids = [word_id["[CLS]"]] + [word_id[t] for t in tokens] + [word_id["[SEP]"]]
    pad = MAX_LEN - len(ids)
    return ids + [0] * pad, [1] * len(ids) + [0] * pad


names = list(INTENTS)
y = rng.integers(0, len(names), 1500)
pairs = [encode(utterance(names[c])) for c in y]
ids = np.array([p[0] for p in pairs], dtype="int32")
mask = np.array([p[1] for p in pairs], dtype="int32")


def as_dataset(sl, training):
    ds = tf.data.Dataset.from_tensor_slices(
        ({"input_ids": ids[sl], "attention_mask": mask[sl]}, y[sl]))
    return (ds.shuffle(2000) if training else ds).batch(32)


train_ds = as_dataset(slice(0, 1200), True)
test_ds = as_dataset(slice(1200, None), False)

config = DistilBertConfig(vocab_size=len(words), dim=48, hidden_dim=96, n_layers=2, n_heads=4,
                          max_position_embeddings=MAX_LEN, num_labels=len(names))
model = TFDistilBertForSequenceClassification(config)
model.compile(
    optimizer=tf_keras.optimizers.Adam(learning_rate=1e-3),
    loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=test_ds, epochs=5, verbose=2)

logits = model.predict(test_ds, verbose=0).logits
pred = logits.argmax(-1)
print("predicted per intent:", dict(zip(names, np.bincount(pred, minlength=len(names)))))
print("test accuracy: %.3f" % np.mean(pred == y[1200:]))
