import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import tempfile
import numpy as np
import tensorflow as tf
import tf_keras
from transformers import (BertTokenizerFast, DataCollatorForTokenClassification, ElectraConfig,
                          TFAutoModelForTokenClassification)

random.seed(31)
tf_keras.utils.set_random_seed(31)

DRUGS = "aspirin ibuprofen metformin heparin insulin warfarin".split()
UNITS = "mg ml units".split()
OTHER = "patient received daily with then after before meals dose of was given and stopped".split()
TAGS = ["O", "DRUG", "AMOUNT", "STOPPED"]
vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + DRUGS + UNITS + OTHER + [str(d) for d in range(10)] \
    + ["##" + str(d) for d in range(10)]


def note():
    words, tags = [], []
    for _ in range(random.randint(2, 4)):
        n = random.randint(1, 4)
        words += random.choices(OTHER[:-1], k=n)
        tags += [0] * n
        drug = random.choice(DRUGS)
        if random.random() < 0.3:
            words += ["stopped", drug]
            tags += [0, 3]
        else:
            words += [drug, str(random.randint(5, 500)), random.choice(UNITS)]
            tags += [1, 2, 0]
    return words, tags


path = os.path.join(tempfile.mkdtemp(), "vocab.txt")
with open(path, "w") as f:
    f.write("\n".join(vocab))
tokenizer = BertTokenizerFast(vocab_file=path)


def encode(words, tags):
    enc = tokenizer(words, is_split_into_words=True, truncation=True, max_length=40)
    labels, seen = [], None
    for wid in enc.word_ids():
        labels.append(-100 if wid is None or wid == seen else tags[wid])
        seen = wid
    return {"input_ids": enc["input_ids"], "attention_mask": enc["attention_mask"], "labels": labels}


records = [encode(*note()) for _ in range(900)]
train, held = records[:720], records[720:]
collate = DataCollatorForTokenClassification(tokenizer, return_tensors="tf")


def batches(rows, size=8):
    def generate():
        order = random.sample(rows, len(rows)) if rows is train else rows
        for i in range(0, len(order), size):
            yield dict(collate([dict(r) for r in order[i:i + size]]))
    spec = {k: tf.TensorSpec((None, None), tf.int64) for k in ("input_ids", "attention_mask", "labels")}
    ds = tf.data.Dataset.from_generator(generate, output_signature=spec)
    return ds.apply(tf.data.experimental.assert_cardinality(-(-len(rows) // size)))


config = ElectraConfig(vocab_size=len(vocab), embedding_size=32, hidden_size=48, num_hidden_layers=2,
                       num_attention_heads=4, intermediate_size=96, max_position_embeddings=40,
                       num_labels=len(TAGS))
model = TFAutoModelForTokenClassification.from_config(config)
model.compile(optimizer=tf_keras.optimizers.Adam(1e-3))
model.fit(batches(train), epochs=4, verbose=2)

hit, base, total = 0, 0, 0
for batch in batches(held):
    gold = batch.pop("labels").numpy()
    pred = model(batch, training=False).logits.numpy().argmax(-1)
    keep = gold != -100
    hit += (pred[keep] == gold[keep]).sum()
    base += (gold[keep] == 0).sum()
    total += keep.sum()
print("held-out token accuracy %.4f (always O: %.4f)" % (hit / total, base / total))
