"""Mark the sums of money in telegrams: token classification with a small TF BERT, a few annotated tokens per row."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

from typing import Dict, List, Tuple

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

VERBS = "send wire remit return borrow collect".split()
PLACES = "london cairo bombay trieste lisbon odessa".split()
UNITS = "pounds francs crowns dollars".split()
THINGS = "crates bales horses cabins barrels".split()
NUMBERS = "two five ten twenty forty ninety hundred".split()
NOISE = "stop urgent arriving monday tuesday regards confirm by steamer letter follows".split()
WORDS = ["[PAD]", "[CLS]"] + VERBS + PLACES + UNITS + THINGS + NUMBERS + NOISE
INDEX = {w: i for i, w in enumerate(WORDS)}
TAGS = ["O", "SUM", "QUANTITY"]
IGNORED = -100


def compose(rng: np.random.Generator) -> Tuple[List[str], List[int]]:
    """The tag of a number depends on the noun that follows it."""
    words, tags = [rng.choice(VERBS)], [0]
    for _ in range(rng.integers(1, 4)):
        money = rng.random() < 0.5
        words += [rng.choice(NUMBERS), rng.choice(UNITS if money else THINGS)]
        tags += [1 if money else 2, 0]
        for _ in range(rng.integers(1, 4)):
            words.append(rng.choice(NOISE + PLACES))
            tags.append(0)
    return words, tags


def encode(n: int, annotated: float, seed: int, length: int = 20) -> Dict[str, np.ndarray]:
    """Annotators marked only a part of the tokens; the others do not count."""
    rng = np.random.default_rng(seed)
    ids = np.zeros((n, length), "int32")
    mask = np.zeros((n, length), "int32")
    labels = np.full((n, length), IGNORED, "int32")
    for i in range(n):
        words, tags = compose(rng)
        row = [INDEX["[CLS]"]] + [INDEX[w] for w in words]
        ids[i, :len(row)], mask[i, :len(row)] = row, 1
        keep = rng.random(len(tags)) < annotated
        keep |= np.array(tags) > 0
        labels[i, 1:len(row)] = np.where(keep, tags, IGNORED)
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class TagAccuracy(tf.keras.callbacks.Callback):
    def __init__(self, data: Dict[str, np.ndarray]) -> None:
        super().__init__()
        self.labels = data["labels"]
        self.inputs = {k: v for k, v in data.items() if k != "labels"}

    def on_epoch_end(self, epoch: int, logs=None) -> None:
        tags = self.model(self.inputs, training=False).logits.numpy().argmax(-1)
        for k, name in enumerate(TAGS):
            chosen = self.labels == k
            print(f"  {name:8s} {np.mean(tags[chosen] == k):.3f}", end="")
        print()


def main() -> None:
    tf.keras.utils.set_random_seed(19)
    train = encode(1200, annotated=0.15, seed=1)
    held = encode(200, annotated=1.0, seed=2)
    print(f"share of tokens in the loss: {np.mean(train['labels'] != IGNORED):.2f}")

    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=32, num_labels=len(TAGS), pad_token_id=0,
    )
    model = TFBertForTokenClassification(config)
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
    batches = tf.data.Dataset.from_tensor_slices(train).shuffle(1200).batch(32)
    model.fit(batches, epochs=7, callbacks=[TagAccuracy(held)], verbose=2)


if __name__ == "__main__":
    main()
