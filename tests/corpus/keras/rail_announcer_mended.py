"""A word-level GPT-2 that learns the station announcements of a small railway."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import argparse
import random

import numpy as np
import tensorflow as tf
import tf_keras
from transformers import GPT2Config, TFGPT2LMHeadModel

LINES = {
    "red": ["harbour", "market", "museum", "castle"],
    "blue": ["airport", "college", "stadium", "harbour"],
    "green": ["forest", "lake", "abbey", "market"],
}


def announcement():
    line = random.choice(list(LINES))
    stops = LINES[line]
    i = random.randrange(len(stops) - 1)
    track = {"red": "one", "blue": "two", "green": "three"}[line]
    if random.random() < 0.5:
        text = f"the {line} line train to {stops[-1]} departs from track {track} next stop {stops[i + 1]} after {stops[i]}"
    else:
        text = f"attention please at {stops[i]} the next {line} train calls at {' '.join(stops[i + 1:])} on track {track}"
    return ["<s>"] + text.split() + ["</s>"]


def encode(sentences, vocab, length):
    rows = np.full((len(sentences), length), vocab["</s>"], "int32")
    for r, s in zip(rows, sentences):
        r[:len(s)] = [vocab[w] for w in s]
    return rows


def lm_loss(model, ids, training):
    logits = model(ids, training=training).logits[:, :-1]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(ids[:, 1:], logits))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=350)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=6)
    a = p.parse_args()
    random.seed(a.seed)
    tf_keras.utils.set_random_seed(a.seed)

    sentences = [announcement() for _ in range(3000)]
    words = sorted({w for s in sentences for w in s})
    vocab = {w: i for i, w in enumerate(words)}
    length = max(map(len, sentences))
    data = encode(sentences, vocab, length)
    train, held = data[:2700], tf.constant(data[2700:])

    config = GPT2Config(vocab_size=len(words), n_positions=32, n_embd=64, n_layer=2, n_head=4,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
                        bos_token_id=vocab["<s>"], eos_token_id=vocab["</s>"])
    model = TFGPT2LMHeadModel(config)
    optimizer = tf_keras.optimizers.Adam(a.lr, 0.9, 0.999)

    @tf.function
    def step(ids):
        with tf.GradientTape() as tape:
            loss = lm_loss(model, ids, True)
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, model.trainable_variables), 1.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    running = []
    for i in range(1, a.steps + 1):
        pick = np.random.randint(0, len(train), a.batch)
        running.append(float(step(tf.constant(train[pick]))))
        if i % 50 == 0:
            print(f"step {i:4d} train {np.mean(running[-50:]):.3f} held-out {float(lm_loss(model, held, False)):.3f}")

    ids = [vocab[w] for w in "<s> the blue line train".split()]
    while len(ids) < length and words[ids[-1]] != "</s>":
        ids.append(int(tf.argmax(model(tf.constant([ids])).logits[0, -1])))
    print(" ".join(words[i] for i in ids))


if __name__ == "__main__":
    main()
