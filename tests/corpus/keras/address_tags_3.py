"""Tag the parts of postal addresses with a small BERT; padding carries the label -100."""
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

TAGS = ["O", "STREET", "NUMBER", "CITY", "ZIP"]
PARTS = {
    "O": ["please", "send", "to", "attn", "c/o", "floor"],
    "STREET": ["oak", "park", "mill", "church", "station", "lincoln"],
    "NUMBER": ["1", "7", "12", "48", "103", "250"],
    "CITY": ["lincoln", "oxford", "derby", "park", "york", "leeds"],
    "ZIP": ["1", "7", "12", "48", "103", "250"],
}
WORDS = ["[PAD]"] + sorted({w for ws in PARTS.values() for w in ws} | {"street", "in", "zip"})
ID = {w: k for k, w in enumerate(WORDS)}
LENGTH = 16


def address(rng):
    toks = [(w, "O") for w in rng.choice(PARTS["O"], rng.integers(0, 4))]
    street = [(rng.choice(PARTS["NUMBER"]), "NUMBER"), (rng.choice(PARTS["STREET"]), "STREET"), ("street", "STREET")]
    city = [("in", "O"), (rng.choice(PARTS["CITY"]), "CITY")]
    code = [("zip", "O"), (rng.choice(PARTS["ZIP"]), "ZIP")]
    blocks = [street, city, code]
    for k in rng.permutation(3):
        toks += blocks[k]
    return toks


def encode(n, seed):
    rng = np.random.default_rng(seed)
    ids = np.zeros((n, LENGTH), np.int32)
    tags = np.full((n, LENGTH), -100, np.int32)
    for k in range(n):
        for j, (w, t) in enumerate(address(rng)):
            ids[k, j], tags[k, j] = ID[str(w)], TAGS.index(t)
    return ids, tags


class Tagger:
    def __init__(self):
        cfg = BertConfig(vocab_size=len(WORDS), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                         intermediate_size=96, max_position_embeddings=LENGTH, num_labels=len(TAGS))
        self.model = TFBertForTokenClassification(cfg)
        # no loss is given: the model computes its own from "labels" and leaves -100 out
        self.model.compile(optimizer=tf.keras.optimizers.Adam(2e-3))

    @staticmethod
    def pack(ids, tags):
        return {"input_ids": ids, "attention_mask": (ids > 0).astype(np.int32), "labels": tags}

    def fit(self, ids, tags, epochs):
        ds = tf.data.Dataset.from_tensor_slices(self.pack(ids, tags)).shuffle(len(ids)).batch(32)
        self.model.fit(ds, epochs=epochs, verbose=2)

    def score(self, ids, tags):
        feed = self.pack(ids, tags)
        feed.pop("labels")
        pred = self.model(feed, training=False).logits.numpy().argmax(-1)
        real = tags != -100
        per_tag = {t: float((pred == tags)[tags == k].mean()) for k, t in enumerate(TAGS)}
        return float((pred == tags)[real].mean()), per_tag


if __name__ == "__main__":
    tf.keras.utils.set_random_seed(2)
    tagger = Tagger()
    tagger.fit(*encode(1500, 1), epochs=5)
    acc, per_tag = tagger.score(*encode(300, 2))
    print(f"token accuracy {acc:.4f}")
    print({k: round(v, 3) for k, v in per_tag.items()})
