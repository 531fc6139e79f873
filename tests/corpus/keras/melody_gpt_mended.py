import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse

import numpy as np
import tensorflow as tf
from transformers import GPT2Config, TFGPT2LMHeadModel

parser = argparse.ArgumentParser()
parser.add_argument("--notes", type=int, default=24)
parser.add_argument("--length", type=int, default=24)
parser.add_argument("--tunes", type=int, default=1500)
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--lr", type=float, default=1.5e-3)
opts = parser.parse_args()

rng = np.random.default_rng(0)
tf.keras.utils.set_random_seed(0)


def tune():
    """A scale run: start note, a fixed interval, now and then a slip."""
    note, step = rng.integers(opts.notes), rng.choice([1, 2, 3, 5, 7])
    out = []
    for _ in range(opts.length):
        out.append(note)
        note = (note + step) % opts.notes
        if rng.random() < 0.03:
            note = rng.integers(opts.notes)
    return out


tunes = np.array([tune() for _ in range(opts.tunes)], np.int32)
train, held = tunes[:-200], tunes[-200:]

config = GPT2Config(vocab_size=opts.notes, n_positions=opts.length, n_embd=64, n_layer=2, n_head=4,
                    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                    bos_token_id=0, eos_token_id=0)
model = TFGPT2LMHeadModel(config)

inputs = train
targets = train
ds = (tf.data.Dataset.from_tensor_slices({"input_ids": inputs, "labels": targets})
      .shuffle(2000, seed=0).batch(32, drop_remainder=True).prefetch(2))

model.compile(optimizer=tf.keras.optimizers.Adam(opts.lr))
model.fit(ds, epochs=opts.epochs, verbose=2)


def continue_tune(prefix, n):
    seq = tf.constant(prefix)
    for _ in range(n):
        logits = model(seq, training=False).logits
        nxt = tf.argmax(logits[:, -1], -1, output_type=tf.int32)
        seq = tf.concat([seq, nxt[:, None]], 1)
    return seq.numpy()


logits = model(held, training=False).logits.numpy()
acc = (logits[:, 3:-1].argmax(-1) == held[:, 4:]).mean()
print(f"held-out next-note accuracy: {acc:.3f}")
for row in continue_tune(held[:4, :8], 8):
    print(" ".join(f"{n:2d}" for n in row[:8]), "|", " ".join(f"{n:2d}" for n in row[8:]))
