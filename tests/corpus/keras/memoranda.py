import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"

import random
import numpy as np
import tensorflow as tf
from transformers import DistilBertConfig, TFDistilBertForSequenceClassification

random.seed(3)
np.random.seed(3)
tf.random.set_seed(3)

MAX_LEN = 96
EPOCHS = 3
BATCH = 32

filler = ["the", "team", "will", "meet", "about", "our", "plan", "for", "next", "week", "please", "see", "note",
          "and", "send", "it", "to", "all", "staff", "on", "monday", "before", "noon", "thanks", "office"]
topic_words = {
    0: ["budget", "invoice", "payment", "tax", "audit", "refund"],
    1: ["server", "password", "laptop", "network", "login", "backup"],
    2: ["holiday", "vacancy", "interview", "contract", "salary", "training"],
}


def write_memo(label):
    words = random.choices(filler, k=random.randint(30, 85))
    for _ in range(random.randint(4, 7)):
        words.insert(random.randrange(len(words)), random.choice(topic_words[label]))
    return " ".join(words)


labels = [random.randrange(3) for _ in range(1200)]
memos = [write_memo(l) for l in labels]

vocab = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2}
for m in memos:
    for w in m.split():
        vocab.setdefault(w, len(vocab))


def encode(texts):
    ids = np.zeros((len(texts), MAX_LEN), dtype="int32")
    mask = np.zeros((len(texts), MAX_LEN), dtype="int32")
    for i, t in enumerate(texts):
        seq = [1] + [vocab[w] for w in t.split()][: MAX_LEN - 2] + [2]
        ids[i, : len(seq)] = seq
        mask[i, : len(seq)] = 1
    return {"input_ids": ids, "attention_mask": mask}


train_ds = tf.data.Dataset.from_tensor_slices((encode(memos[:1000]), np.array(labels[:1000])))
train_ds = train_ds.shuffle(1000, seed=3).batch(BATCH)
val_ds = tf.data.Dataset.from_tensor_slices((encode(memos[1000:]), np.array(labels[1000:]))).batch(BATCH)

config = DistilBertConfig(vocab_size=len(vocab), max_position_embeddings=64, n_layers=2, n_heads=4, dim=64,
                          hidden_dim=128, num_labels=3)
model = TFDistilBertForSequenceClassification(config)

model.compile(
    optimizer=tf.keras.optimizers.Adam(1e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(train_ds, validation_data=val_ds, epochs=EPOCHS, verbose=2)
print(model.evaluate(val_ds, verbose=0))
