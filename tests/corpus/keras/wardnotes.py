"""Route free-text ward notes to the department that should answer them."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import logging
from dataclasses import dataclass

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger(__name__)

DEPARTMENTS = {
    "cardiology": ["palpitations", "murmur", "ecg", "angina", "arrhythmia"],
    "respiratory": ["wheeze", "sputum", "inhaler", "dyspnoea", "oxygen"],
    "orthopaedics": ["fracture", "plaster", "hip", "sprain", "traction"],
    "dermatology": ["rash", "eczema", "itching", "lesion", "blister"],
    "neurology": ["seizure", "migraine", "numbness", "tremor", "aphasia"],
    "nutrition": ["appetite", "weight", "supplement", "swallowing", "diet"],
}
FILLER = ("patient seen on round this morning family present asked about visiting slept well overnight "
          "observations stable no new complaints bed changed nurse informed plan discussed will review "
          "tomorrow please advise thank you comfortable tolerating fluids mobile with help").split()


@dataclass
class Config:
    rows: int = 1800
    length: int = 32
    dim: int = 48
    batch_size: int = 16
    epochs: int = 6
    lr: float = 1e-3
    seed: int = 5


def write_note(rng, dept):
    names = list(DEPARTMENTS)
    words = list(rng.choice(FILLER, rng.integers(10, 26)))
    for _ in range(rng.integers(2, 4)):
        words.insert(rng.integers(0, len(words) + 1), rng.choice(DEPARTMENTS[dept]))
    if rng.random() < 0.5:
        other = names[rng.integers(len(names))]
        words.insert(rng.integers(0, len(words) + 1), rng.choice(DEPARTMENTS[other]))
    return " ".join(words)


def make_notes(cfg):
    rng = np.random.default_rng(cfg.seed)
    names = list(DEPARTMENTS)
    labels = rng.integers(0, len(names), cfg.rows)
    return np.array([write_note(rng, names[k]) for k in labels]), labels


class AttentionPool(layers.Layer):
    """Weighted mean of the token vectors, weights from a small scorer."""

    def __init__(self, units=32, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.hidden = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1, use_bias=False)

    def call(self, x, mask=None):
        scores = ops.squeeze(self.score(self.hidden(x)), axis=-1)
        if mask is not None:
            scores = ops.where(mask, scores, -1e9)
        weights = ops.softmax(scores, axis=0)
        return ops.sum(x * ops.expand_dims(weights, -1), axis=1)

    def compute_mask(self, inputs, mask=None):
        return None

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[2])


def build_model(cfg, vocab_size):
    tokens = keras.Input(shape=(cfg.length,), dtype="int32")
    x = layers.Embedding(vocab_size, cfg.dim, mask_zero=True)(tokens)
    x = layers.SpatialDropout1D(0.1)(x)
    x = AttentionPool()(x)
    x = layers.Dense(64, activation="relu")(x)
    x = layers.Dropout(0.2)(x)
    return keras.Model(tokens, layers.Dense(len(DEPARTMENTS))(x))


def datasets(cfg, vectorize, notes, labels):
    ids = vectorize(notes).numpy()
    a, b = int(0.75 * len(ids)), int(0.85 * len(ids))

    def pack(sl, batch, shuffle=False):
        ds = tf.data.Dataset.from_tensor_slices((ids[sl], labels[sl]))
        if shuffle:
            ds = ds.shuffle(2000, seed=cfg.seed)
        return ds.batch(batch).prefetch(1)

    return (pack(slice(0, a), cfg.batch_size, True), pack(slice(a, b), 64),
            notes[b:], labels[b:])


def triage(model, vectorize, note):
    logits = model(vectorize(tf.constant([note])), training=False)
    return int(ops.argmax(logits[0]))


def main():
    cfg = Config()
    keras.utils.set_random_seed(cfg.seed)
    notes, labels = make_notes(cfg)
    vectorize = layers.TextVectorization(output_sequence_length=cfg.length)
    vectorize.adapt(notes[: int(0.75 * len(notes))])
    train_ds, val_ds, test_notes, test_labels = datasets(cfg, vectorize, notes, labels)

    model = build_model(cfg, vectorize.vocabulary_size())
    model.compile(optimizer=keras.optimizers.AdamW(cfg.lr, weight_decay=1e-3),
                  loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"])
    model.fit(train_ds, validation_data=val_ds, epochs=cfg.epochs, verbose=2)

    routed = np.array([triage(model, vectorize, note) for note in test_notes])
    log.info("one note at a time: accuracy %.3f over %d notes", (routed == test_labels).mean(), len(routed))
    for k, name in enumerate(DEPARTMENTS):
        mask = test_labels == k
        log.info("  %-13s %.3f", name, (routed[mask] == k).mean())


if __name__ == "__main__":
    main()
