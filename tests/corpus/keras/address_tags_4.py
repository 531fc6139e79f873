# Tag the parts of postal addresses (street, number, town, postcode) with a small BERT in TF.
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import random
import numpy as np
import tensorflow as tf
import keras
from transformers import BertConfig, TFBertForTokenClassification

TAGS = ["O", "STREET", "NUMBER", "TOWN", "CODE"]
STREETS = "mill oak church station harbour garden north king".split()
KINDS = "street road lane square".split()
TOWNS = "arden belport corley dunmere eastwick farham".split()
FILLER = "please send to deliver at parcel for by in the".split()
NUMS = [str(i) for i in range(1, 40)]
CODES = [f"{a}{b}" for a in "abcd" for b in range(10, 20)]
words = STREETS + KINDS + TOWNS + FILLER + NUMS + CODES
stoi = {w: i + 2 for i, w in enumerate(words)}
MAXLEN = 16
random.seed(6)
np.random.seed(6)
tf.random.set_seed(6)


def example():
    toks, tags = [], []

    def add(ws, t):
        toks.extend(ws)
        tags.extend([t] * len(ws))

    add(random.sample(FILLER, random.randint(1, 4)), 0)
    street = ([random.choice(STREETS), random.choice(KINDS)], 1)
    number = ([random.choice(NUMS)], 2)
    for part in random.choice([(street, number), (number, street)]):
        add(*part)
    if random.random() < 0.7:
        add([random.choice(TOWNS)], 3)
    if random.random() < 0.7:
        add([random.choice(CODES)], 4)
    return toks, tags


def batchify(n):
    ids = np.zeros((n, MAXLEN), "int32")
    lab = np.full((n, MAXLEN), -100, "int32")
    for i in range(n):
        t, g = example()
        ids[i, :len(t)] = [stoi[w] for w in t]
        lab[i, :len(g)] = g
    return {"input_ids": ids, "attention_mask": (ids > 0).astype("int32"), "labels": lab}


train, test = batchify(1500), batchify(300)
train_ds = tf.data.Dataset.from_tensor_slices(train).shuffle(1500).batch(32)

cfg = BertConfig(vocab_size=len(words) + 2, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                 intermediate_size=96, max_position_embeddings=MAXLEN, num_labels=len(TAGS))
model = TFBertForTokenClassification(cfg)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=1e-3))
model.fit(train_ds, epochs=5, verbose=2)

labels = test.pop("labels")
logits = model.predict(test, batch_size=64, verbose=0).logits
pred = logits.argmax(-1)
keep = labels != -100
print("token accuracy", (pred[keep] == labels[keep]).mean())
for i, t in enumerate(TAGS):
    m = labels == i
    print(t, (pred[m] == i).mean().round(3))
