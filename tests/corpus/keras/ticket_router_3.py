"""Route support tickets to one of four teams with a small BERT."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForSequenceClassification, create_optimizer, set_seed

TEAMS = ["billing", "shipping", "account", "technical"]
TOPIC = {
    "billing": "invoice charge refund card payment price receipt tax".split(),
    "shipping": "parcel courier delivery address tracking late box warehouse".split(),
    "account": "login password email profile username reset verify locked".split(),
    "technical": "crash error screen update install slow freeze battery".split(),
}
COMMON = "hello i my the please help with is not since yesterday again still and a for you thanks can".split()
MAX_LEN = 24


def write_ticket(team, rng):
    words = []
    other = rng.choice([t for t in TEAMS if t != team])
    for _ in range(rng.integers(10, 22)):
        r = rng.random()
        pool = TOPIC[team] if r < 0.25 else TOPIC[other] if r < 0.32 else COMMON
        words.append(str(rng.choice(pool)))
    return " ".join(words)


class WordTokenizer:
    def __init__(self, texts):
        vocab = sorted({w for t in texts for w in t.split()})
        self.ids = {w: i for i, w in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]"] + vocab)}

    def __len__(self):
        return len(self.ids)

    def __call__(self, texts):
        ids = np.zeros((len(texts), MAX_LEN), np.int32)
        for r, t in enumerate(texts):
            seq = [2] + [self.ids.get(w, 1) for w in t.split()][: MAX_LEN - 2] + [3]
            ids[r, : len(seq)] = seq
        return {"input_ids": ids, "attention_mask": (ids != 0).astype(np.int32)}


def tickets(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(TEAMS), n)
    return [write_ticket(TEAMS[k], rng) for k in y], y.astype(np.int64)


def main():
    set_seed(17)
    train_text, train_y = tickets(800, 0)
    test_text, test_y = tickets(300, 1)
    tok = WordTokenizer(train_text)
    batch, epochs = 32, 4

    train = dict(tok(train_text), labels=train_y)
    ds = tf.data.Dataset.from_tensor_slices(train).shuffle(800, seed=0).batch(batch, drop_remainder=True)

    config = BertConfig(
        vocab_size=len(tok),
        hidden_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=96,
        max_position_embeddings=MAX_LEN,
    )
    model = TFBertForSequenceClassification(config)
    steps = epochs * (len(train_text) // batch)
    optimizer, _ = create_optimizer(3e-3, num_train_steps=steps, num_warmup_steps=steps // 10, weight_decay_rate=0.01)
    model.compile(optimizer=optimizer)
    model.fit(ds, epochs=epochs, verbose=2)

    logits = model.predict(tok(test_text), batch_size=64, verbose=0).logits
    acc = (logits.argmax(-1) == test_y).mean()
    print(f"test accuracy {acc:.3f}  majority {np.bincount(test_y).max() / len(test_y):.3f}")


if __name__ == "__main__":
    main()
