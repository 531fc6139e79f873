"""Sentiment of short shop reviews with a small DistilBERT (TF, from a config)."""
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

SEED, BATCH, EPOCHS, MAXLEN = 4, 16, 6, 20
tf.keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

GOOD = "great lovely sturdy quick perfect comfy bright reliable".split()
BAD = "awful flimsy slow broken dull noisy leaking late".split()
NEUTRAL = "the a it was my chair lamp kettle parcel arrived and box table very colour with for".split()
VOCAB = {w: i + 3 for i, w in enumerate(GOOD + BAD + NEUTRAL + ["not"])}
PAD, CLS, UNK = 0, 1, 2


def write_review():
    label = int(rng.integers(0, 2))
    words = list(rng.choice(NEUTRAL, rng.integers(5, 12)))
    for _ in range(rng.integers(1, 4)):
        pos = int(rng.integers(0, len(words) + 1))
        if rng.random() < 0.25:
            words[pos:pos] = ["not", str(rng.choice(BAD if label else GOOD))]
        else:
            words.insert(pos, str(rng.choice(GOOD if label else BAD)))
    return " ".join(words), label


def encode(texts):
    ids = np.full((len(texts), MAXLEN), PAD, "int32")
    for i, t in enumerate(texts):
        row = [CLS] + [VOCAB.get(w, UNK) for w in t.split()]
        ids[i, :min(len(row), MAXLEN)] = row[:MAXLEN]
    return {"input_ids": ids, "attention_mask": (ids != PAD).astype("int32")}


def dataset(n, shuffle):
    pairs = [write_review() for _ in range(n)]
    texts, labels = zip(*pairs)
    ds = tf.data.Dataset.from_tensor_slices((encode(texts), np.array(labels, "int32")))
    if shuffle:
        ds = ds.shuffle(n, seed=SEED)
    return ds.batch(BATCH)


train_ds = dataset(1600, True)
val_ds = dataset(300, False)

config = DistilBertConfig(
    vocab_size=len(VOCAB) + 3, dim=48, hidden_dim=96, n_layers=2, n_heads=4,
    max_position_embeddings=MAXLEN, num_labels=2, dropout=0.1, seq_classif_dropout=0.1,
)
model = TFDistilBertForSequenceClassification(config)

num_train_steps = len(train_ds) * EPOCHS
schedule = tf.keras.optimizers.schedules.PolynomialDecay(
    initial_learning_rate=1e-3, end_learning_rate=0.0, decay_steps=num_train_steps
)
model.compile(
    optimizer=tf.keras.optimizers.Adam(schedule),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=EPOCHS, verbose=2)

logits = model.predict(val_ds, verbose=0).logits
labels = np.concatenate([y.numpy() for _, y in val_ds])
print("accuracy", float((logits.argmax(-1) == labels).mean()))
