"""Decoder-only transformer on method ringing (plain hunt), after GPT-style training.

Every sequence starts from a random row of bells and continues with the changes that follow from it.
"""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops

BELLS = 6
ROWS = 5
BOS = BELLS


def next_row(row, odd):
    row = list(row)
    for i in range(1 if odd else 0, BELLS - 1, 2):
        row[i], row[i + 1] = row[i + 1], row[i]
    return row


def ring(rng):
    row = rng.permutation(BELLS).tolist()
    seq = list(row)
    for r in range(ROWS - 1):
        row = next_row(row, odd=bool(r % 2))
        seq += row
    return [BOS] + seq


class Block(layers.Layer):
    def __init__(self, dim, heads, **kw):
        super().__init__(**kw)
        self.norm1 = layers.LayerNormalization(epsilon=1e-5)
        self.attn = layers.MultiHeadAttention(heads, dim // heads)
        self.norm2 = layers.LayerNormalization(epsilon=1e-5)
        self.up = layers.Dense(2 * dim, activation="gelu")
        self.down = layers.Dense(dim)

    def call(self, x):
        h = self.norm1(x)
        x = x + self.attn(h, h)
        return x + self.down(self.up(self.norm2(x)))


class Ringer(keras.Model):
    def __init__(self, vocab, length, dim=64, depth=2, heads=4):
        super().__init__()
        self.tok = layers.Embedding(vocab, dim)
        self.pos = layers.Embedding(length, dim)
        self.blocks = [Block(dim, heads) for _ in range(depth)]
        self.norm = layers.LayerNormalization(epsilon=1e-5)
        self.head = layers.Dense(vocab)

    def call(self, ids):
        h = self.tok(ids) + self.pos(ops.arange(ops.shape(ids)[1]))
        for block in self.blocks:
            h = block(h)
        return self.head(self.norm(h))


def continue_rows(model, prompts, total):
    """Greedy decoding; the buffer has a fixed length so that the graph is built once."""
    length = total - 1
    buf = np.full((len(prompts), length + 1), 0, dtype="int32")
    known = prompts.shape[1]
    buf[:, :known] = prompts
    step = tf.function(lambda t: model(t, training=False))
    for i in range(known, total):
        logits = step(tf.constant(buf[:, :length])).numpy()
        buf[:, i] = logits[:, i - 1, :BELLS].argmax(-1)
    return buf


class FreeRun(keras.callbacks.Callback):
    def __init__(self, seqs, every):
        super().__init__()
        self.seqs, self.every = seqs, every

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every:
            return
        start = 1 + BELLS
        out = continue_rows(self.model, self.seqs[:, :start], self.seqs.shape[1])
        acc = (out[:, start:] == self.seqs[:, start:]).mean()
        print(f"  free-running accuracy {acc:.3f} (chance {1 / BELLS:.3f})")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--lr", type=float, default=2e-3)
    args = ap.parse_args()
    keras.utils.set_random_seed(1)
    rng = np.random.default_rng(1)

    seqs = np.array([ring(rng) for _ in range(3000)], dtype="int32")
    train, held = seqs[:2800], seqs[2800:]
    length = seqs.shape[1] - 1

    model = Ringer(BELLS + 1, length)
    model.compile(
        optimizer=keras.optimizers.AdamW(args.lr, weight_decay=0.01, global_clipnorm=1.0),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        weighted_metrics=[],
    )
    model.fit(
        train[:, :-1],
        train[:, 1:],
        validation_data=(held[:, :-1], held[:, 1:]),
        batch_size=64,
        epochs=args.epochs,
        callbacks=[FreeRun(held, every=4)],
        verbose=2,
    )


if __name__ == "__main__":
    main()
