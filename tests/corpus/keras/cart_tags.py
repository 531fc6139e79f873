import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

tf.keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)

TAGS = ["O", "QTY", "ITEM", "SIZE"]
QTY = "one two three four five six".split()
ITEM = "shirt mug lamp chair scarf bottle cable notebook".split()
SIZE = "small medium large tiny".split()
CHAT = "hi please i need to order and also then maybe thanks for my small shop number one choice".split()
WORDS = ["[PAD]"] + list(dict.fromkeys(QTY + ITEM + SIZE + CHAT))
W = {w: i for i, w in enumerate(WORDS)}
LEN = 24


def message():
    words, tags = [], []
    for _ in range(rng.integers(1, 4)):
        chat = list(rng.choice(CHAT, rng.integers(2, 5)))
        words += chat
        tags += [0] * len(chat)
        order = [(rng.choice(QTY), 1)]
        if rng.random() < 0.5:
            order.append((rng.choice(SIZE), 3))
        order.append((rng.choice(ITEM), 2))
        words += [w for w, _ in order]
        tags += [t for _, t in order]
    return words[:LEN], tags[:LEN]


def collate(batch):
    ids = np.zeros((len(batch), LEN), "int32")
    tags = np.full((len(batch), LEN), -100, "int32")
    for r, (w, t) in enumerate(batch):
        ids[r, : len(w)] = [W[v] for v in w]
        tags[r, : len(t)] = t
    return ids, (ids != 0).astype("int32"), tags


def batches(data, size, shuffle):
    order = rng.permutation(len(data)) if shuffle else np.arange(len(data))
    for i in range(0, len(data), size):
        yield tuple(map(tf.constant, collate([data[j] for j in order[i : i + size]])))


data = [message() for _ in range(1500)]
train, test = data[:1200], data[1200:]

model = TFBertForTokenClassification(BertConfig(
    vocab_size=len(WORDS), hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=128, max_position_embeddings=LEN, num_labels=len(TAGS), initializer_range=0.1))
model(tf.constant([[1, 2, 3]]))
# word vectors stay as drawn: the vocabulary is tiny and random vectors tell words apart
model.bert.embeddings.trainable = False
print("trainable tensors:", len(model.trainable_variables), "of", len(model.variables))

opt = tf.keras.optimizers.Adam(1e-3, clipnorm=1.0)
weight = tf.constant([0.5, 1.0, 1.0, 2.0])


@tf.function
def step(ids, mask, tags):
    keep = tf.cast(tags >= 0, tf.float32)
    safe = tf.maximum(tags, 0)
    with tf.GradientTape() as tape:
        logits = model(ids, attention_mask=mask, training=True).logits
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=safe, logits=logits)
        w = keep * tf.gather(weight, safe)
        loss = tf.reduce_sum(ce * w) / tf.reduce_sum(w)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


for epoch in range(10):
    loss = np.mean([float(step(*b)) for b in batches(train, 32, True)])
    hit = np.zeros(len(TAGS))
    seen = np.zeros(len(TAGS))
    for ids, mask, tags in batches(test, 100, False):
        pred = model(ids, attention_mask=mask, training=False).logits.numpy().argmax(-1)
        for k in range(len(TAGS)):
            here = tags.numpy() == k
            hit[k] += (pred[here] == k).sum()
            seen[k] += here.sum()
    print(f"epoch {epoch} loss {loss:.3f} recall", dict(zip(TAGS, np.round(hit / seen, 3))))
