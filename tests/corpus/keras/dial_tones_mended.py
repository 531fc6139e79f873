"""Read a dialled key sequence from a noisy line with CTC (plain TensorFlow loop)."""
import os
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

KEYS = 8                      # keys 0..7, one extra output for the CTC blank
BANDS = 10
MAX_KEYS, MAX_FRAMES = 5, 40
BATCH, STEPS = 32, 220

os.makedirs("out", exist_ok=True)
keras.utils.set_random_seed(13)
tone_rng = np.random.default_rng(99)
TONES = tone_rng.normal(0, 1.0, (KEYS, BANDS)).astype("float32")


def call(rng):
    n = rng.integers(2, MAX_KEYS + 1)
    keys = rng.integers(0, KEYS, n)
    frames = np.zeros((MAX_FRAMES, BANDS), "float32")
    t = rng.integers(1, 4)
    for k in keys:
        hold = rng.integers(3, 5)
        frames[t:t + hold] += TONES[k] * rng.uniform(0.8, 1.3)
        t += hold + rng.integers(2, 4)
    length = min(MAX_FRAMES, t + 2)
    frames += rng.normal(0, 0.35, frames.shape)
    padded = np.zeros(MAX_KEYS, "int32")
    padded[:n] = keys
    return frames, length, padded, n


def batch(size, rng):
    frames, lengths, keys, counts = zip(*[call(rng) for _ in range(size)])
    return (
        np.stack(frames).astype("float32"),
        np.array(lengths, "int32"),
        np.stack(keys),
        np.array(counts, "int32"),
    )


def build():
    inp = keras.Input((MAX_FRAMES, BANDS))
    h = layers.Conv1D(48, 5, padding="same", activation="relu")(inp)
    h = layers.Conv1D(48, 5, padding="same", activation="relu")(h)
    return keras.Model(inp, layers.Dense(KEYS + 1)(h))


model = build()
optimizer = keras.optimizers.Adam(4e-3, clipnorm=5.0)


@tf.function
def train_step(frames, lengths, keys, counts):
    with tf.GradientTape() as tape:
        logits = model(frames, training=True)
        losses = tf.nn.ctc_loss(
            labels=keys,
            logits=logits,
            label_length=counts,
            logit_length=lengths,
            logits_time_major=False,
            blank_index=KEYS,
        )
        loss = tf.reduce_mean(losses)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def decode(frames, lengths):
    logits = tf.transpose(model(frames, training=False), [1, 0, 2])
    (best,), _ = tf.nn.ctc_greedy_decoder(logits, lengths)
    dense = tf.sparse.to_dense(best, default_value=-1).numpy()
    return [[int(v) for v in row if v >= 0] for row in dense]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


def key_error_rate(data):
    frames, lengths, keys, counts = data
    truth = [list(map(int, k[:n])) for k, n in zip(keys, counts)]
    guess = decode(frames, lengths)
    wrong = sum(edit_distance(t, g) for t, g in zip(truth, guess))
    exact = np.mean([t == g for t, g in zip(truth, guess)])
    return wrong / sum(map(len, truth)), exact, truth, guess


rng = np.random.default_rng(0)
valid = batch(100, np.random.default_rng(1))
test = batch(300, np.random.default_rng(2))

start = time.time()
for step in range(1, STEPS + 1):
    loss = train_step(*batch(BATCH, rng))
    if step % 40 == 0 or step == 1:
        ker, exact, _, _ = key_error_rate(valid)
        print(f"step {step:4d} ctc {float(loss):7.3f} valid KER {ker:.3f} exact {exact:.2f}")

ker, exact, truth, guess = key_error_rate(test)
print(f"{time.time() - start:.1f}s  test key error rate {ker:.3f}, whole calls right {exact:.3f}")
print("an empty transcript would score 1.000")
for t, g in list(zip(truth, guess))[:3]:
    print("dialled", t, "read", g)
model.save_weights("out/dial.weights.h5")
