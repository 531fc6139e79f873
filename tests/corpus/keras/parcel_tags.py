# Tag the parts of messy parcel addresses with a small BERT (token classification, TF).
import os

import numpy as np
import tensorflow as tf
import tf_keras
from sklearn.metrics import classification_report, f1_score
from transformers import BertConfig, TFBertForTokenClassification

os.makedirs("out", exist_ok=True)
tf_keras.utils.set_random_seed(14)

TAGS = ["O", "NAME", "STREET", "NUMBER", "CITY", "POSTCODE"]
MAX_LEN = 64
PAD, CLS, SEP = 0, 1, 2


class AddressMaker:
    """Random addresses in several word orders; many words can be a name, a street or a city."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        stems = [a + b for a in ("bar", "kel", "mor", "tan", "lis", "wen", "gra", "hol")
                 for b in ("ton", "by", "ford", "er", "ley", "stad")]
        self.shared = stems
        self.kinds = ["street", "road", "lane", "way"]
        self.filler = ["please", "deliver", "to", "attn", "near", "the", "back", "door", "parcel"]
        words = self.shared + self.kinds + self.filler + ["city", "of", "no"] + [f"n{k}" for k in range(40)]
        self.vocab = {w: k + 3 for k, w in enumerate(words)}

    def pick(self, seq):
        return seq[self.rng.integers(len(seq))]

    def number(self):
        return f"n{self.rng.integers(40)}"

    def make(self):
        r = self.rng
        name = [(self.pick(self.shared), 1) for _ in range(r.integers(1, 3))]
        street = [(self.pick(self.shared), 2)]
        if r.random() < 0.6:
            street.append((self.pick(self.kinds), 2))
        number = [(self.number(), 3)]
        if r.random() < 0.2:
            number.insert(0, ("no", 0))
        city = [(self.pick(self.shared), 4)]
        if r.random() < 0.3:
            city = [("city", 0), ("of", 0)] + city
        code = [(self.number(), 5), (self.number(), 5)]
        lead = [(self.pick(self.filler), 0) for _ in range(r.integers(0, 3))]
        style = r.integers(4)
        if style == 0:
            parts = [lead, name, street, number, code, city]
        elif style == 1:
            parts = [lead, name, number, street, city, code]
        elif style == 2:
            parts = [code, city, street, number, lead, name]
        else:
            parts = [street, number, city, code, name]
        pairs = [pair for part in parts for pair in part]
        return [pair for pair in pairs if r.random() > 0.08]      # couriers skip words


def encode(maker, n):
    ids = np.full((n, MAX_LEN), PAD, dtype="int32")
    mask = np.zeros((n, MAX_LEN), dtype="int32")
    labels = np.zeros((n, MAX_LEN), dtype="int32")
    for k in range(n):
        pairs = maker.make()
        row = [CLS] + [maker.vocab[w] for w, _ in pairs] + [SEP]
        ids[k, :len(row)] = row
        mask[k, :len(row)] = 1
        labels[k, 1:len(pairs) + 1] = [t for _, t in pairs]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


maker = AddressMaker(seed=4)
train, test = encode(maker, 1600), encode(maker, 400)
print("tokens per address: %.1f" % train["attention_mask"].sum(1).mean())

config = BertConfig(
    vocab_size=len(maker.vocab) + 3, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=MAX_LEN, num_labels=len(TAGS),
    id2label=dict(enumerate(TAGS)), label2id={t: k for k, t in enumerate(TAGS)},
)
model = TFBertForTokenClassification(config)
model.compile(optimizer=tf_keras.optimizers.Adam(1e-3))
dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(1600, seed=0).batch(32)
model.fit(dataset, epochs=3, verbose=2)

logits = model.predict({k: test[k] for k in ("input_ids", "attention_mask")},
                       batch_size=128, verbose=0).logits
pred = logits.argmax(-1)
keep = test["labels"] != -100
gold, guess = test["labels"][keep], pred[keep]
print(classification_report(gold, guess, labels=range(len(TAGS)), target_names=TAGS,
                            digits=3, zero_division=0))
accuracy = float((gold == guess).mean())
baseline = np.bincount(gold).max() / len(gold)
part_f1 = f1_score(gold, guess, labels=range(1, len(TAGS)), average="macro", zero_division=0)
print(f"held-out token accuracy {accuracy:.4f} (most common tag {baseline:.4f}), "
      f"macro-F1 of the five parts {part_f1:.3f}")
np.save("out/tags.npy", pred)
