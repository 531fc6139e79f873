"""Route insurance claim notes to a department with a small DistilBERT (TensorFlow)."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from collections import Counter
from typing import Dict, List, Tuple

import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

DEPARTMENTS = ["motor", "property", "travel"]
PHRASES = {
    "motor": ["rear bumper dented at junction", "windscreen cracked by gravel", "other driver ran a red light",
              "towed from the motorway", "wing mirror torn off while parked"],
    "property": ["water came through the ceiling", "kitchen damaged by smoke", "tiles blown off the roof",
                 "burst pipe under the sink", "lock forced and jewellery gone"],
    "travel": ["flight cancelled at short notice", "suitcase never arrived", "doctor abroad treated an infection",
               "hotel closed on arrival", "passport stolen at the station"],
}
FILLER = ["customer called again this morning", "photos are attached to the file", "please confirm receipt soon",
          "policy number was verified by phone", "no further documents at this time", "reference sent by post",
          "estimate requested from the contractor", "client prefers to be reached by email"]

PAD, UNK, CLS = 0, 1, 2


def write_note(dept: str, rng: np.random.Generator) -> str:
    """A note consists of several filler sentences and two that matter."""
    parts: List[str] = list(rng.choice(FILLER, size=rng.integers(4, 9)))
    for phrase in rng.choice(PHRASES[dept], size=2, replace=False):
        parts.insert(rng.integers(0, len(parts) + 1), phrase)
    return " ".join(parts)


def build_corpus(n: int, seed: int) -> Tuple[List[str], np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, len(DEPARTMENTS), n)
    return [write_note(DEPARTMENTS[k], rng) for k in labels], labels


class WordTokenizer:
    def __init__(self, texts: List[str]) -> None:
        counts = Counter(w for t in texts for w in t.split())
        self.index: Dict[str, int] = {w: i + 3 for i, (w, _) in enumerate(counts.most_common())}

    def __len__(self) -> int:
        return len(self.index) + 3

    def __call__(self, texts: List[str], max_length: int) -> Dict[str, np.ndarray]:
        rows = [[CLS] + [self.index.get(w, UNK) for w in t.split()] for t in texts]
        rows = [r[:max_length] for r in rows]
        longest = max(len(r) for r in rows)
        ids = np.full((len(rows), longest), PAD, dtype="int32")
        mask = np.zeros_like(ids)
        for i, r in enumerate(rows):
            ids[i, :len(r)] = r
            mask[i, :len(r)] = 1
        return {"input_ids": ids, "attention_mask": mask}


MAX_LENGTH = 64


def build_model(vocab_size: int) -> TFDistilBertForSequenceClassification:
    config = DistilBertConfig(
        vocab_size=vocab_size,
        max_position_embeddings=32,
        dim=48,
        hidden_dim=96,
        n_layers=2,
        n_heads=4,
        dropout=0.1,
        num_labels=len(DEPARTMENTS),
        pad_token_id=PAD,
    )
    return TFDistilBertForSequenceClassification(config)


def as_dataset(enc: Dict[str, np.ndarray], labels: np.ndarray, shuffle: bool) -> tf.data.Dataset:
    ds = tf.data.Dataset.from_tensor_slices((enc, labels))
    if shuffle:
        ds = ds.shuffle(len(labels))
    return ds.batch(32)


def main() -> None:
    tf.keras.utils.set_random_seed(7)
    train_texts, train_y = build_corpus(900, seed=7)
    val_texts, val_y = build_corpus(200, seed=8)
    tokenizer = WordTokenizer(train_texts)
    train = as_dataset(tokenizer(train_texts, MAX_LENGTH), train_y, shuffle=True)
    val = as_dataset(tokenizer(val_texts, MAX_LENGTH), val_y, shuffle=False)

    model = build_model(len(tokenizer))
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(train, validation_data=val, epochs=3, verbose=2)
    logits = model.predict(val, verbose=0).logits
    print("routed correctly:", float((logits.argmax(-1) == val_y).mean()))


if __name__ == "__main__":
    main()
