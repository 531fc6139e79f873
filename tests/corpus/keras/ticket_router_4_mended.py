"""Route support tickets to a team with a small BERT (tf_keras fit)."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import BertConfig, TFBertForSequenceClassification

TEAMS = {
    "billing": "invoice refund charge card payment price receipt tax".split(),
    "network": "router wifi signal cable speed outage modem latency".split(),
    "account": "password login email profile reset username locked token".split(),
}
FILLER = "please hello my the is was again since today cannot help with and it team thanks".split()
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
VOCAB = {w: i for i, w in enumerate(SPECIAL + FILLER + sum(TEAMS.values(), []))}
MAX_LEN = 20


def write_ticket(rng, team):
    names = list(TEAMS)
    words = list(rng.choice(FILLER, rng.integers(6, 12)))
    words += list(rng.choice(TEAMS[names[team]], 2))
    if rng.random() < 0.3:
        words.append(str(rng.choice(TEAMS[names[rng.integers(3)]])))
    rng.shuffle(words)
    return " ".join(words)


def encode(texts):
    ids = np.zeros((len(texts), MAX_LEN), dtype="int32")
    for row, text in enumerate(texts):
        toks = [VOCAB["[CLS]"]] + [VOCAB.get(w, 1) for w in text.split()] + [VOCAB["[SEP]"]]
        toks = toks[:MAX_LEN]
        ids[row, : len(toks)] = toks
    return {"input_ids": ids, "attention_mask": (ids != 0).astype("int32")}


def corpus(n, seed):
    rng = np.random.default_rng(seed)
    teams = rng.integers(0, len(TEAMS), n).astype("int32")
    return [write_ticket(rng, t) for t in teams], teams


def as_dataset(texts, teams, shuffle):
    features = encode(texts)
    targets = {"labels": teams}
    ds = tf.data.Dataset.from_tensor_slices((features, targets))
    if shuffle:
        ds = ds.shuffle(len(texts), seed=1)
    return ds.batch(32)


tf_keras.utils.set_random_seed(5)
train_texts, train_teams = corpus(800, 0)
test_texts, test_teams = corpus(300, 1)
train_ds = as_dataset(train_texts, train_teams, True)
test_ds = as_dataset(test_texts, test_teams, False)

config = BertConfig(
    vocab_size=len(VOCAB),
    hidden_size=48,
    num_hidden_layers=1,
    num_attention_heads=4,
    intermediate_size=96,
    max_position_embeddings=MAX_LEN,
    num_labels=len(TEAMS),
)
model = TFBertForSequenceClassification(config)
steps = 5 * len(train_ds)
schedule = tf_keras.optimizers.schedules.PolynomialDecay(2e-3, steps, end_learning_rate=1e-4)
model.compile(optimizer=tf_keras.optimizers.Adam(schedule))
history = model.fit(train_ds, validation_data=test_ds, epochs=5, verbose=0)
for i, (a, b) in enumerate(zip(history.history["loss"], history.history["val_loss"])):
    print(f"epoch {i}  loss {a:.4f}  val_loss {b:.4f}")

logits = model.predict(encode(test_texts), batch_size=64, verbose=0).logits
pred = logits.argmax(-1)
majority = np.bincount(test_teams).max() / len(test_teams)
print(f"test accuracy {np.mean(pred == test_teams):.3f}  (majority {majority:.3f})")
