import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification


@dataclass
class Args:
    max_len: int = 28
    n_train: int = 1600
    n_test: int = 300
    batch: int = 32
    epochs: int = 8
    lr: float = 1e-3
    seed: int = 3


args = Args()
TAGS = ["O", "ORIG", "DEST", "DATE", "GATE", "FLIGHT"]
CITIES = [f"city{i}" for i in range(25)]
NUMS = [f"n{i}" for i in range(25)]
GLUE = "i want to book please a seat the cheap for me and my friend show any".split()
CUES = ["from", "towards", "day", "gate", "flight"]
VOCAB = ["<pad>", "<s>"] + sorted(set(GLUE)) + CUES + CITIES + NUMS
W2I = {w: i for i, w in enumerate(VOCAB)}
PAD = W2I["<pad>"]


def utterance(rng):
    slots = [("from", CITIES, "ORIG"), ("towards", CITIES, "DEST"), ("day", NUMS, "DATE"),
             ("gate", NUMS, "GATE"), ("flight", NUMS, "FLIGHT")]
    picked = rng.permutation(len(slots))[: rng.integers(2, 6)]
    toks, tags = ["<s>"], ["O"]
    for k in picked:
        for w in rng.choice(GLUE, rng.integers(0, 3)):
            toks.append(w)
            tags.append("O")
        cue, pool, tag = slots[k]
        toks += [cue, rng.choice(pool)]
        tags += ["O", tag]
    return toks, tags


def collate(batch):
    ids = np.full((len(batch), args.max_len), PAD, np.int32)
    labels = np.full((len(batch), args.max_len), -100, np.int32)
    for r, (toks, tags) in enumerate(batch):
        ids[r, : len(toks)] = [W2I[t] for t in toks]
        labels[r, : len(tags)] = [TAGS.index(t) for t in tags]
    attention = (ids == PAD).astype(np.int32)
    return tf.constant(ids), tf.constant(attention), tf.constant(labels)


def batches(data, rng=None):
    order = np.arange(len(data)) if rng is None else rng.permutation(len(data))
    for s in range(0, len(data), args.batch):
        yield collate([data[i] for i in order[s : s + args.batch]])


def slot_accuracy(model, data):
    right = total = 0
    for ids, att, labels in batches(data):
        pred = tf.argmax(model(ids, attention_mask=att, training=False).logits, -1).numpy()
        lab = labels.numpy()
        keep = lab > 0
        right += (pred[keep] == lab[keep]).sum()
        total += keep.sum()
    return right / total


def main():
    rng = np.random.default_rng(args.seed)
    tf.keras.utils.set_random_seed(args.seed)
    train = [utterance(rng) for _ in range(args.n_train)]
    test = [utterance(rng) for _ in range(args.n_test)]
    model = TFBertForTokenClassification(BertConfig(
        vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=96, max_position_embeddings=args.max_len, num_labels=len(TAGS), initializer_range=0.1,
        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    opt = tf.keras.optimizers.Adam(args.lr)

    @tf.function(reduce_retracing=True)
    def step(ids, att, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(ids, attention_mask=att, labels=labels, training=True).loss)
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for ep in range(args.epochs):
        losses = [float(step(*b)) for b in batches(train, rng)]
        print(f"epoch {ep}: loss {np.mean(losses):.4f} slot acc {slot_accuracy(model, test):.3f}")


if __name__ == "__main__":
    main()
