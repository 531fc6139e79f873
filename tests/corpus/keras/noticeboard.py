"""Sorts notes from a village noticeboard (offer, wanted, event, lost) with a small ELECTRA."""
import logging
import random

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import ElectraConfig, TFElectraForSequenceClassification

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger(__name__)
KINDS = ["offer", "wanted", "event", "lost"]
ITEMS = ["bicycle", "piano", "sofa", "cat", "ladder", "camera", "umbrella", "scarf", "drum", "kettle"]
PLACES = ["hall", "church", "school", "market", "library", "station"]
TEMPLATES = {
    "offer": ["{i} for sale cheap", "giving away a {i} at the {p}", "selling my old {i} near the {p}"],
    "wanted": ["looking for a {i} near the {p}", "who can lend me a {i}", "searching a used {i} please"],
    "event": ["concert at the {p} with {i}", "come to the {p} fair this sunday", "open evening {p}"],
    "lost": ["lost a {i} by the {p}", "my {i} is missing since friday", "has anyone seen our {i}"],
}
MAX_LEN = 14


def write_notes(n, rng):
    texts, labels = [], []
    for _ in range(n):
        k = rng.randrange(len(KINDS))
        text = rng.choice(TEMPLATES[KINDS[k]]).format(i=rng.choice(ITEMS), p=rng.choice(PLACES))
        if rng.random() < 0.15:
            text = rng.choice(["call me", "ring bell", "tel 5521"])
        texts.append(text)
        labels.append(k)
    return texts, labels


def clean(texts, labels, min_words=3):
    texts = [t.lower() for t in texts if len(t.split()) >= min_words]
    labels = labels[: len(texts)]
    log.info("%d notes after cleaning", len(texts))
    return texts, labels


def encode(texts, vocab):
    ids = np.zeros((len(texts), MAX_LEN), "int32")
    for row, text in zip(ids, texts):
        tokens = ["[CLS]"] + text.split()[: MAX_LEN - 2] + ["[SEP]"]
        row[: len(tokens)] = [vocab.get(w, 1) for w in tokens]
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}


def build_vocab(texts):
    words = sorted({w for t in texts for w in t.split()})
    return {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + words)}


def build_model(vocab):
    config = ElectraConfig(
        vocab_size=len(vocab), embedding_size=48, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=MAX_LEN, num_labels=len(KINDS),
    )
    return TFElectraForSequenceClassification(config)


def main():
    tf_keras.utils.set_random_seed(17)
    texts, labels = clean(*write_notes(1800, random.Random(17)))
    labels = np.array(labels, "int32")
    cut = int(0.85 * len(texts))
    vocab = build_vocab(texts[:cut])
    train = tf.data.Dataset.from_tensor_slices((encode(texts[:cut], vocab), labels[:cut])).shuffle(cut).batch(32)
    valid = tf.data.Dataset.from_tensor_slices((encode(texts[cut:], vocab), labels[cut:])).batch(64)

    model = build_model(vocab)
    model.compile(
        optimizer=tf_keras.optimizers.Adam(1e-3, clipnorm=1.0),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    stop = tf_keras.callbacks.EarlyStopping(monitor="val_loss", patience=4, restore_best_weights=True)
    model.fit(train, validation_data=valid, epochs=6, verbose=2, callbacks=[stop])
    loss, acc = model.evaluate(valid, verbose=0)
    log.info("validation loss %.3f accuracy %.3f", loss, acc)


if __name__ == "__main__":
    main()
