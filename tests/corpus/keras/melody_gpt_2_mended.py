"""Small GPT that continues folk-like melodies; trained from scratch."""
import argparse
import os

os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel, set_seed

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=7)
p.add_argument("--batch_size", type=int, default=64)
p.add_argument("--lr", type=float, default=4e-3)
p.add_argument("--seed", type=int, default=17)
cfg = p.parse_args()
set_seed(cfg.seed)

N_NOTES = 21
BOS = N_NOTES                 # ids 0..20 are scale steps, 21 starts a tune
LENGTH = 25
SCALE_MOVES = {0: [2, 2, -1, 2], 1: [1, 1, 1, -4], 2: [4, -2, -1, 1], 3: [-3, 5, -1, -2]}


def tunes(n, rng):
    """A motif of four moves, repeated through the tune and mirrored in every other bar."""
    out = np.empty((n, LENGTH), "int32")
    for i in range(n):
        moves = SCALE_MOVES[int(rng.integers(4))]
        note, seq = int(rng.integers(N_NOTES)), [BOS]
        for bar in range(6):
            sign = 1 if bar % 2 == 0 else -1
            for m in moves:
                seq.append(note)
                step = sign * m if rng.random() > 0.02 else int(rng.integers(-2, 3))
                note = (note + step) % N_NOTES
        out[i] = seq
    return out


rng = np.random.default_rng(cfg.seed)
train, test = tunes(2000, rng), tunes(256, rng)


def dataset(seqs, shuffle):
    ds = tf.data.Dataset.from_tensor_slices(seqs)
    if shuffle:
        ds = ds.shuffle(len(seqs), seed=cfg.seed)
    ds = ds.batch(cfg.batch_size, drop_remainder=shuffle)
    return ds.map(lambda s: {"input_ids": s, "labels": s}).prefetch(2)


model = TFGPT2LMHeadModel(GPT2Config(
    vocab_size=N_NOTES + 1, n_positions=LENGTH, n_embd=48, n_layer=2, n_head=4,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=BOS, eos_token_id=BOS))

steps = cfg.epochs * (len(train) // cfg.batch_size)
lr = tf.keras.optimizers.schedules.PolynomialDecay(cfg.lr, steps, end_learning_rate=cfg.lr / 20)
optimizer = tf.keras.optimizers.Adam(lr, global_clipnorm=1.0)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        out = model(**batch, training=True)
        loss = tf.reduce_mean(out.loss)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def test_loss(batch):
    return tf.reduce_mean(model(**batch, training=False).loss)


@tf.function
def last_logits(ids):
    return model(input_ids=ids, training=False).logits[:, -1]


def continue_tunes(seqs, given, n_new):
    ids = seqs[:, :given]
    for _ in range(n_new):
        nxt = tf.argmax(last_logits(tf.constant(ids)), -1).numpy().astype("int32")
        ids = np.concatenate([ids, nxt[:, None]], 1)
    return ids[:, given:]


for epoch in range(cfg.epochs):
    losses = [float(train_step(b)) for b in dataset(train, True)]
    held = np.mean([float(test_loss(b)) for b in dataset(test, False)])
    print(f"epoch {epoch + 1}: train loss {np.mean(losses):.3f}  held-out loss {held:.3f}")

GIVEN, NEW = 17, 4
guess = continue_tunes(test, GIVEN, NEW)
truth = test[:, GIVEN:GIVEN + NEW]
names = "C D E F G A B".split()
show = lambda s: " ".join(f"{names[v % 7]}{v // 7 + 3}" if v < N_NOTES else "|" for v in s)
for i in range(2):
    print("given", show(test[i, GIVEN - 8:GIVEN]), " -> ", show(guess[i]), "   wanted", show(truth[i]))
table = np.zeros((N_NOTES + 1, N_NOTES + 1))
np.add.at(table, (train[:, :-1].ravel(), train[:, 1:].ravel()), 1)
markov = table[test[:, GIVEN - 1]].argmax(1)
print(f"continuation: next note right {np.mean(guess[:, 0] == truth[:, 0]):.3f}, "
      f"all {NEW} notes right {np.mean((guess == truth).all(1)):.3f}, "
      f"most frequent successor {np.mean(markov == truth[:, 0]):.3f}")
