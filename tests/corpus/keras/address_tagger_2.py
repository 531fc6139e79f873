import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

TAGS = ["O", "STREET", "NUMBER", "CITY"]
STREETS = ["oak", "mill", "church", "station", "garden", "lake", "hill"]
CITIES = ["dover", "leeds", "bath", "york", "derby", "truro", "hill"]
OTHER = "please send the parcel to my house at on near it is in of we live behind".split()
rng = np.random.default_rng(13)
tf.keras.utils.set_random_seed(13)


def make_sentence():
    words, tags = [], []
    for w in rng.choice(OTHER, size=rng.integers(1, 6)):
        words.append(w), tags.append(0)
    words += [rng.choice(STREETS), "street", str(rng.integers(1, 30))]
    tags += [1, 1, 2]
    if rng.random() < 0.7:
        words += ["in", rng.choice(CITIES)]
        tags += [0, 3]
    for w in rng.choice(OTHER, size=rng.integers(0, 6)):
        words.append(w), tags.append(0)
    return words, tags


def split_word(word):
    return [word] if len(word) <= 4 else [word[:4], "##" + word[4:]]


def encode(sentences, vocab, grow, length=32):
    ids = np.zeros((len(sentences), length), dtype="int32")
    mask = np.zeros_like(ids)
    labels = np.full((len(sentences), length), -100, dtype="int32")
    for row, (words, tags) in enumerate(sentences):
        pos = 0
        for word, tag in zip(words, tags):
            for k, piece in enumerate(split_word(str(word))):
                if grow:
                    vocab.setdefault(piece, len(vocab))
                ids[row, pos] = vocab.get(piece, vocab["[UNK]"])
                mask[row, pos] = 1
                if k == 0:
                    labels[row, pos] = tag
                pos += 1
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


vocab = {"[PAD]": 0, "[UNK]": 1}
train = encode([make_sentence() for _ in range(1000)], vocab, grow=True)
test = encode([make_sentence() for _ in range(250)], vocab, grow=False)
print("labelled share of positions", round(float(np.mean(train["labels"] != -100)), 3))

config = BertConfig(
    vocab_size=len(vocab), hidden_size=48, num_hidden_layers=1, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=32, num_labels=len(TAGS),
)
model = TFBertForTokenClassification(config)
model.compile(optimizer=tf.keras.optimizers.Adam(3e-3))

dataset = tf.data.Dataset.from_tensor_slices(train).shuffle(1000, seed=0).batch(50)
model.fit(dataset, epochs=6, verbose=2)

labels = test.pop("labels")
logits = model.predict(test, batch_size=50, verbose=0).logits
keep = labels != -100
guess = logits.argmax(-1)[keep]
truth = labels[keep]
print(f"tag accuracy {np.mean(guess == truth):.4f}, all-O {np.mean(truth == 0):.4f}")
for k, name in enumerate(TAGS):
    print(f"  {name:7s} recall {np.mean(guess[truth == k] == k):.3f} of {np.sum(truth == k)}")
