"""Masked-token pretraining of a tiny BERT on event logs of a vending machine fleet."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import time
import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForMaskedLM, set_seed

set_seed(23)
rng = np.random.default_rng(23)

PAD, CLS, SEP, MASK = 0, 1, 2, 3
N_SPECIAL, N_EVENTS, SEQ = 4, 40, 26
VOCAB = N_SPECIAL + N_EVENTS
BATCH, EPOCHS, MASK_RATE = 64, 8, 0.15


def sessions(n, gen):
    """Machines run little programs: coin, choice, motor, ... in a fixed order per product."""
    programs = np.random.default_rng(99).permuted(np.tile(np.arange(N_EVENTS), (10, 1)), axis=1)[:, :4]
    ids = np.full((n, SEQ), PAD, "int32")
    for i in range(n):
        row = [CLS]
        for _ in range(int(gen.integers(4, 7))):
            row += [N_SPECIAL + e for e in programs[gen.integers(10)]]
        row = row[:SEQ - 1] + [SEP]
        ids[i, :len(row)] = row
    return ids


def mask_tokens(ids, gen):
    """Returns model inputs and labels; -100 where nothing has to be predicted."""
    pick = (gen.random(ids.shape) < MASK_RATE) & (ids != PAD) & (ids != CLS) & (ids != SEP)
    labels = np.where(pick, ids, -100)
    kind = gen.random(ids.shape)
    inputs = ids
    inputs[pick & (kind < 0.8)] = MASK
    swap = pick & (kind >= 0.8) & (kind < 0.9)
    inputs[swap] = gen.integers(N_SPECIAL, VOCAB, swap.sum())
    return inputs, labels


class Batches:
    def __init__(self, corpus, batch_size):
        self.corpus, self.batch_size = corpus, batch_size

    def __iter__(self):
        starts = np.arange(0, len(self.corpus), self.batch_size)
        for s in rng.permutation(starts):
            yield self.corpus[s:s + self.batch_size]


model = TFBertForMaskedLM(BertConfig(
    vocab_size=VOCAB, hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
    intermediate_size=96, max_position_embeddings=SEQ, hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0, initializer_range=0.05))
optimizer = tf.keras.optimizers.AdamW(learning_rate=4e-3, weight_decay=1e-3)


@tf.function
def step(inputs, mask, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(
            model(input_ids=inputs, attention_mask=mask, labels=labels, training=True).loss)
    grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
    optimizer.apply_gradients(
        (g, v) for g, v in zip(grads, model.trainable_variables) if g is not None)
    return loss


@tf.function
def logits(inputs, mask):
    return model(input_ids=inputs, attention_mask=mask, training=False).logits


def masked_accuracy(ids, gen):
    pick = (gen.random(ids.shape) < MASK_RATE) & (ids >= N_SPECIAL)
    inputs = np.where(pick, MASK, ids).astype("int32")
    pred = logits(tf.constant(inputs), tf.constant((ids != PAD).astype("int32"))).numpy().argmax(-1)
    return float((pred == ids)[pick].mean())


train, held_out = sessions(1920, rng), sessions(256, np.random.default_rng(5))
freq = np.bincount(train[train >= N_SPECIAL]).max() / (train >= N_SPECIAL).sum()

t0 = time.time()
for epoch in range(EPOCHS):
    total = []
    for ids in Batches(train, BATCH):
        attention = (ids != PAD).astype("int32")
        inputs, labels = mask_tokens(ids, rng)
        total.append(float(step(tf.constant(inputs), tf.constant(attention),
                                tf.constant(labels.astype("int32")))))
    if epoch % 3 == 0 or epoch == EPOCHS - 1:
        print(f"epoch {epoch + 1:2d}  masked loss {np.mean(total):.3f}  {time.time() - t0:.0f} s")

acc = masked_accuracy(held_out, np.random.default_rng(8))
print(f"held-out masked token accuracy {acc:.3f}  (most frequent event {freq:.3f})")
