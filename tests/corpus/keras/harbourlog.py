"""Route harbour-office messages to a desk with a small DistilBERT trained from scratch."""
from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
import tf_keras as keras
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

SPECIALS = ("[PAD]", "[UNK]", "[CLS]")
DESKS = ("berthing", "customs", "repairs", "weather")

PHRASES = {
    "berthing": ["request berth for {v} at {t}", "{v} will leave quay {n} by {t}", "pilot needed for {v} at gate {n}",
                 "mooring lines of {v} to be shifted to quay {n}"],
    "customs": ["{v} declares {n} crates of {g}", "missing papers for the {g} on board {v}", "duty on {n} tons of {g} paid",
                "sealed container {n} with {g} awaits inspection"],
    "repairs": ["{v} reports a leak near hatch {n}", "engine of {v} overheats since {t}", "crane {n} is stuck please send a mechanic",
                "rudder damage on {v} diver wanted at {t}"],
    "weather": ["gale warning for sector {n} from {t}", "fog on the outer roads until {t}", "swell of {n} metres seen from {v}",
                "ice drifts towards buoy {n} at {t}"],
}
VESSELS = ["marta", "oldenburg", "silver fox", "ariadne", "northern light", "kittiwake", "valparaiso", "jutta"]
GOODS = ["coffee", "timber", "tin", "oranges", "machine parts", "wool", "salt", "carpets"]
TIMES = ["dawn", "noon", "dusk", "midnight", "six", "eight", "ten"]
FILLERS = ["please", "urgent", "again", "over", "regards", "thanks", "harbour master", "as agreed", "confirm", "today"]


@dataclass
class Settings:
    rows: int = 1600
    max_len: int = 20
    batch_size: int = 32
    epochs: int = 4
    learning_rate: float = 8e-4
    seed: int = 11


class Vocabulary:
    """Word-level vocabulary; the special tokens take the first ids."""

    def __init__(self, texts: list[str]) -> None:
        counts = Counter(word for text in texts for word in text.split())
        offset = len(SPECIALS)
        self.word_to_id = {word: i + offset for i, (word, _) in enumerate(counts.most_common())}

    def __len__(self) -> int:
        return len(self.word_to_id)

    def encode(self, text: str, max_len: int) -> tuple[list[int], list[int]]:
        ids = [2] + [self.word_to_id.get(word, 1) for word in text.split()]
        ids = ids[:max_len]
        pad = max_len - len(ids)
        return ids + [0] * pad, [1] * len(ids) + [0] * pad


def write_messages(count: int, rng: random.Random) -> tuple[list[str], list[int]]:
    texts, labels = [], []
    for _ in range(count):
        desk = rng.randrange(len(DESKS))
        template = rng.choice(PHRASES[DESKS[desk]])
        body = template.format(v=rng.choice(VESSELS), g=rng.choice(GOODS), t=rng.choice(TIMES), n=rng.randint(1, 60))
        head = " ".join(rng.sample(FILLERS, rng.randint(0, 2)))
        tail = " ".join(rng.sample(FILLERS, rng.randint(0, 2)))
        texts.append(f"{head} {body} {tail}".strip())
        labels.append(desk)
    return texts, labels


def to_dataset(texts: list[str], labels: list[int], vocab: Vocabulary, cfg: Settings, shuffle: bool) -> tf.data.Dataset:
    encoded = [vocab.encode(text, cfg.max_len) for text in texts]
    features = {
        "input_ids": np.array([ids for ids, _ in encoded], dtype="int32"),
        "attention_mask": np.array([mask for _, mask in encoded], dtype="int32"),
    }
    ds = tf.data.Dataset.from_tensor_slices((features, np.array(labels, dtype="int32")))
    if shuffle:
        ds = ds.shuffle(len(labels), seed=cfg.seed)
    return ds.batch(cfg.batch_size)


def build_model(vocab: Vocabulary, cfg: Settings) -> TFDistilBertForSequenceClassification:
    config = DistilBertConfig(
        vocab_size=len(vocab),
        max_position_embeddings=cfg.max_len,
        dim=48, n_layers=2, n_heads=4, hidden_dim=96,
        num_labels=len(DESKS),
    )
    model = TFDistilBertForSequenceClassification(config)
    model.compile(
        optimizer=keras.optimizers.Adam(cfg.learning_rate),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main() -> None:
    cfg = Settings()
    keras.utils.set_random_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    texts, labels = write_messages(cfg.rows, rng)
    cut = int(0.8 * cfg.rows)
    vocab = Vocabulary(texts[:cut])
    train = to_dataset(texts[:cut], labels[:cut], vocab, cfg, shuffle=True)
    valid = to_dataset(texts[cut:], labels[cut:], vocab, cfg, shuffle=False)
    model = build_model(vocab, cfg)
    model.fit(train, validation_data=valid, epochs=cfg.epochs, verbose=2)
    loss, accuracy = model.evaluate(valid, verbose=0)
    print(f"validation loss {loss:.3f}  accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
