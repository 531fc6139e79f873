"""Masked-word pretraining on kitchen instructions with a small DistilBERT."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import DistilBertConfig, TFDistilBertForMaskedLM

SEED = 31
tf_keras.utils.set_random_seed(SEED)
rng = np.random.default_rng(SEED)

DISHES = {
    "rice": ("boil", "pot", "ten", "white"), "bread": ("bake", "oven", "forty", "brown"),
    "steak": ("sear", "pan", "four", "red"), "leek": ("steam", "basket", "six", "green"),
    "plum": ("stew", "casserole", "twenty", "purple"), "trout": ("grill", "rack", "eight", "silver"),
    "squash": ("roast", "tray", "thirty", "orange"), "egg": ("poach", "skillet", "three", "yellow"),
}
COOKS = ["anna", "bruno", "carla", "dmitri"]


def sentence():
    dish = rng.choice(list(DISHES))
    verb, tool, mins, colour = DISHES[dish]
    cook = rng.choice(COOKS)
    form = rng.integers(3)
    if form == 0:
        s = f"{cook} will {verb} the {colour} {dish} in the {tool} for {mins} minutes"
    elif form == 1:
        s = f"after {mins} minutes in the {tool} {cook} served the {colour} {dish}"
    else:
        s = f"to {verb} a {dish} use the {tool} and wait {mins} minutes said {cook}"
    return s.split()


corpus = [sentence() for _ in range(3000)]
words = ["[PAD]", "[MASK]", "[CLS]"] + sorted({w for s in corpus for w in s})
vocab = {w: i for i, w in enumerate(words)}
LENGTH = 1 + max(len(s) for s in corpus)
PAD, MASK, CLS = 0, 1, 2
MLM_PROB = 0.15

ids = np.zeros((len(corpus), LENGTH), "int32")
for i, s in enumerate(corpus):
    ids[i, :len(s) + 1] = [CLS] + [vocab[w] for w in s]
train_ids, test_ids = ids[:2600], ids[2600:]


def collate(batch, prob):
    maskable = (batch != PAD) & (batch != CLS)
    picked = maskable & (rng.random(batch.shape) < prob)
    labels = np.where(picked, batch, -100)
    swap = rng.random(batch.shape)
    inputs = np.where(picked & (swap < 0.8), MASK, batch)
    noise = rng.integers(3, len(words), batch.shape)
    inputs = np.where(picked & (swap >= 0.8) & (swap < 0.9), noise, inputs)
    return {"input_ids": tf.constant(inputs, tf.int32),
            "attention_mask": tf.constant((batch != PAD).astype("int32"))}, tf.constant(labels, tf.int32)


config = DistilBertConfig(vocab_size=len(words), dim=64, n_layers=2, n_heads=4, hidden_dim=128,
                          max_position_embeddings=32, dropout=0.0, attention_dropout=0.0)
model = TFDistilBertForMaskedLM(config)
opt = tf_keras.optimizers.Adam(1.5e-3)


@tf.function(reduce_retracing=True)
def step(inputs, labels):
    with tf.GradientTape() as tape:
        logits = model(inputs, training=True).logits
        keep = tf.cast(labels != -100, tf.float32)
        ce = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(labels, 0), logits)
        loss = tf.reduce_sum(ce * keep) / tf.maximum(tf.reduce_sum(keep), 1.0)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients([(g, v) for g, v in zip(grads, model.trainable_variables) if g is not None])
    return loss


def cloze_accuracy():
    """Hide one content word of each held-out sentence."""
    content = {vocab[w] for d, t in DISHES.items() for w in (d, *t)}
    hidden, spots = test_ids.copy(), []
    for row in hidden:
        where = [j for j, t in enumerate(row) if int(t) in content]
        j = int(rng.choice(where))
        spots.append(j)
        row[j] = MASK
    logits = model({"input_ids": tf.constant(hidden), "attention_mask": tf.constant((hidden != PAD).astype("int32"))}).logits
    guess = logits.numpy().argmax(-1)
    r = np.arange(len(spots))
    return (guess[r, spots] == test_ids[r, spots]).mean()


for epoch in range(6):
    order = rng.permutation(len(train_ids))
    losses = [float(step(*collate(train_ids[order[i:i + 32]], MLM_PROB))) for i in range(0, len(order) - 31, 32)]
    print(f"epoch {epoch + 1} mlm loss {np.mean(losses):.3f} cloze accuracy {cloze_accuracy():.3f}")
