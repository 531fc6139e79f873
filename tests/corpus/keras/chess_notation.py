"""Small GPT-2 on rule-made move lists of different lengths; token-weighted large batches.

Sequences are ragged, so every micro-batch returns a SUM of token losses and the update is divided
by the number of real target tokens in the whole group."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

SIZE = 5                                   # board squares a1..e5
SQUARES = [f"{f}{r}" for f in "abcde" for r in range(1, SIZE + 1)]
MOVES = {"N": (0, 1), "S": (0, -1), "E": (1, 0), "W": (-1, 0)}
TOKENS = ["<pad>", "<s>", "</s>"] + list(MOVES) + SQUARES
STOI = {t: i for i, t in enumerate(TOKENS)}
PAD, BOS, EOS = 0, 1, 2
MICRO, GROUP, UPDATES = 20, 2, 140


def walk(rng):
    """<s> square move square move square ... </s>; each square follows from the previous two tokens."""
    x, y = rng.integers(0, SIZE, 2)
    words = [BOS, STOI[SQUARES[x * SIZE + y]]]
    for _ in range(rng.integers(3, 10)):
        legal = [m for m, (dx, dy) in MOVES.items() if 0 <= x + dx < SIZE and 0 <= y + dy < SIZE]
        m = legal[rng.integers(len(legal))]
        x, y = x + MOVES[m][0], y + MOVES[m][1]
        words += [STOI[m], STOI[SQUARES[x * SIZE + y]]]
    return words + [EOS]


def pad(walks, length=22):
    ids = np.full((len(walks), length), PAD, "int32")
    for row, w in zip(ids, walks):
        row[:len(w)] = w
    mask = (ids != PAD).astype("int32")
    labels = np.where(mask == 1, ids, -100).astype("int32")
    return tf.constant(ids), tf.constant(mask), tf.constant(labels)


def summed_loss(logits, labels):
    target = labels[:, 1:]
    keep = tf.cast(target != -100, tf.float32)
    nll = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.maximum(target, 0), logits[:, :-1])
    return tf.reduce_sum(nll * keep), tf.reduce_sum(keep)


tf_keras.utils.set_random_seed(50)
rng = np.random.default_rng(50)
config = GPT2Config(vocab_size=len(TOKENS), n_positions=24, n_embd=48, n_layer=2, n_head=4,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, tie_word_embeddings=True,
                    bos_token_id=BOS, eos_token_id=EOS, pad_token_id=PAD)
model = TFGPT2LMHeadModel(config)
model(pad([walk(rng) for _ in range(2)])[0])
params = model.trainable_variables
schedule = tf_keras.optimizers.schedules.PolynomialDecay(6e-3, UPDATES, end_learning_rate=2e-4)
optimizer = tf_keras.optimizers.AdamW(schedule, weight_decay=0.01, beta_2=0.98)
totals = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]
tokens = tf.Variable(0.0, trainable=False)


@tf.function
def micro(ids, mask, labels):
    with tf.GradientTape() as tape:
        logits = model({"input_ids": ids, "attention_mask": mask}, training=True).logits
        loss, count = summed_loss(logits, labels)
    for total, grad in zip(totals, tape.gradient(loss, params)):
        total.assign_add(tf.convert_to_tensor(grad))
    tokens.assign_add(count)
    return loss


@tf.function
def update():
    grads = [t / tokens for t in totals]
    grads, _ = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(grads, params))
    for t in totals:
        t.assign(tf.zeros_like(t))
    seen = tokens.read_value()
    tokens.assign(0.0)
    return seen


for step in range(1, UPDATES + 1):
    group = sum(float(micro(*pad([walk(rng) for _ in range(MICRO)]))) for _ in range(GROUP))
    per_token = group / float(update())
    if step % 20 == 0:
        print(f"update {step:3d}  loss per token {per_token:.4f}")

ids, mask, labels = pad([walk(rng) for _ in range(400)])
out = model({"input_ids": ids, "attention_mask": mask, "labels": labels}, training=False)
total, count = summed_loss(out.logits, labels)
guess = out.logits[:, :-1].numpy().argmax(-1)
truth = labels.numpy()[:, 1:]
is_square = truth >= STOI[SQUARES[0]]
is_square[:, 0] = False                      # the start square is free
right = (guess == truth)[is_square].mean()
print(f"fresh walks: loss per token {float(total / count):.4f} (uniform {np.log(len(TOKENS)):.4f}), "
      f"model's own loss {float(tf.reduce_mean(out.loss)):.4f}")
print(f"next square right {right:.4f} (chance {1 / len(SQUARES):.4f})")
