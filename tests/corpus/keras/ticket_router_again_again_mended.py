import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFAutoModelForSequenceClassification

QUEUES = {
    "billing": "invoice refund charge card payment receipt".split(),
    "access": "password login locked account reset token".split(),
    "hardware": "laptop screen battery keyboard dock charger".split(),
    "network": "wifi vpn router latency cable proxy".split(),
}
FILLER = "please the my is again since hello thanks team cannot help with and today it".split()


def write_tickets(n, seed, longest):
    rng = np.random.default_rng(seed)
    names = list(QUEUES)
    texts, labels = [], []
    for _ in range(n):
        label = int(rng.integers(len(names)))
        other = int((label + rng.integers(1, len(names))) % len(names))
        words = list(rng.choice(FILLER, size=rng.integers(4, longest - 6)))
        for queue in (label, label, other):
            words.insert(rng.integers(len(words)), rng.choice(QUEUES[names[queue]]))
        texts.append(" ".join(words))
        labels.append(label)
    return texts, np.array(labels)


class WordTokenizer:
    def __init__(self, texts):
        words = sorted({w for t in texts for w in t.split()})
        self.ids = {w: i + 3 for i, w in enumerate(words)}

    def encode(self, texts, length=None):
        rows = [[2] + [self.ids.get(w, 1) for w in t.split()] for t in texts]
        length = length or max(len(r) for r in rows)
        ids = np.zeros((len(rows), length), "int32")
        mask = np.zeros((len(rows), length), "int32")
        for i, row in enumerate(rows):
            ids[i, : len(row)] = row
            mask[i, : len(row)] = 1
        return {"input_ids": ids, "attention_mask": mask}


class TicketBatches(tf_keras.utils.Sequence):
    def __init__(self, texts, labels, tokenizer, batch_size):
        order = sorted(range(len(texts)), key=lambda i: len(texts[i].split()))
        cuts = range(0, len(order), batch_size)
        self.batches = [order[c : c + batch_size] for c in cuts]
        self.texts, self.labels, self.tokenizer = texts, labels, tokenizer

    def __len__(self):
        return len(self.batches)

    def __getitem__(self, i):
        rows = self.batches[i]
        return self.tokenizer.encode([self.texts[r] for r in rows]), self.labels[rows]


def route(model, tokenizer, texts, batch_size=50):
    probs = []
    for start in range(0, len(texts), batch_size):
        enc = tokenizer.encode(texts[start : start + batch_size], length=model.config.max_position_embeddings)
        logits = model(enc, training=False).logits
        probs.append(tf.nn.softmax(logits, axis=-1).numpy())
    return np.concatenate(probs)


def main():
    tf_keras.utils.set_random_seed(6)
    texts, labels = write_tickets(2000, 1, longest=22)
    test_texts, test_labels = write_tickets(400, 2, longest=22)
    tokenizer = WordTokenizer(texts)
    config = DistilBertConfig(
        vocab_size=len(tokenizer.ids) + 3, dim=48, hidden_dim=96, n_layers=2, n_heads=4,
        max_position_embeddings=96, num_labels=len(QUEUES), pad_token_id=0,
    )
    model = TFAutoModelForSequenceClassification.from_config(config)
    model.compile(
        optimizer=tf_keras.optimizers.Adam(1e-3),
        loss=tf_keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(TicketBatches(texts, labels, tokenizer, 32), epochs=6, verbose=2)
    probs = route(model, tokenizer, test_texts)
    print(f"accuracy on incoming tickets {(probs.argmax(-1) == test_labels).mean():.3f}")
    print(f"mean probability of the right queue {probs[np.arange(len(probs)), test_labels].mean():.3f}")
    print(f"largest queue {np.bincount(test_labels).max() / len(test_labels):.3f}")


if __name__ == "__main__":
    main()
