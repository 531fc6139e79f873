import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import random
import time

import numpy as np
import tensorflow as tf
from transformers import BertConfig, TFBertForTokenClassification

UNITS = "g kg ml cup cups tbsp tsp pinch".split()
FOODS = "flour sugar butter milk onion garlic salt pepper rice tomato basil chicken egg cream".split()
MODS = "fresh chopped ground large small dried melted cold".split()
GLUE = "add the then stir in and mix with until bake for minutes of to a bowl".split()
NUMS = [str(i) for i in range(1, 13)] + ["half", "quarter"]
TAGS = ["O", "QTY", "UNIT", "FOOD", "TIME"]
VOCAB = {w: i for i, w in enumerate(["<pad>"] + sorted(set(UNITS + FOODS + MODS + GLUE + NUMS)))}


def sentence(rng):
    toks, tags = [], []
    for _ in range(rng.randint(2, 4)):
        for _ in range(rng.randint(1, 3)):
            toks.append(rng.choice(GLUE)); tags.append("O")
        if rng.random() < 0.3:
            toks += ["for", rng.choice(NUMS), "minutes"]; tags += ["O", "TIME", "TIME"]
        else:
            toks.append(rng.choice(NUMS)); tags.append("QTY")
            if rng.random() < 0.7:
                toks.append(rng.choice(UNITS)); tags.append("UNIT")
            if rng.random() < 0.5:
                toks.append(rng.choice(MODS)); tags.append("O")
            toks.append(rng.choice(FOODS)); tags.append("FOOD")
    return toks, tags


def collate(batch):
    width = max(len(t) for t, _ in batch)
    ids = np.zeros((len(batch), width), "int32")
    mask = np.zeros((len(batch), width), "int32")
    labels = np.full((len(batch), width), -100, "int32")
    for r, (toks, tags) in enumerate(batch):
        ids[r, : len(toks)] = [VOCAB[t] for t in toks]
        mask[r, : len(toks)] = 1
        labels[r, : len(toks)] = [TAGS.index(t) for t in tags]
    return ids, mask, labels


def evaluate(model, data, bs=64):
    hit = tot = ent_hit = ent_tot = 0
    for i in range(0, len(data), bs):
        ids, mask, labels = collate(data[i : i + bs])
        pred = model(input_ids=ids, attention_mask=mask, training=False).logits.numpy().argmax(-1)
        keep = labels != -100
        hit += (pred == labels)[keep].sum(); tot += keep.sum()
        ent = labels > 0
        ent_hit += (pred == labels)[ent].sum(); ent_tot += ent.sum()
    return hit / tot, ent_hit / ent_tot


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--seed", type=int, default=3)
    args = ap.parse_args()
    rng = random.Random(args.seed)
    tf.random.set_seed(args.seed)

    train = [sentence(rng) for _ in range(1600)]
    dev = [sentence(rng) for _ in range(300)]

    cfg = BertConfig(vocab_size=len(VOCAB), hidden_size=48, num_hidden_layers=2, num_attention_heads=4,
                     intermediate_size=96, max_position_embeddings=64, num_labels=len(TAGS), pad_token_id=0)
    model = TFBertForTokenClassification(cfg)
    steps_per_epoch = len(train) // args.batch_size
    schedule = tf.keras.optimizers.schedules.PolynomialDecay(args.lr, decay_steps=steps_per_epoch * args.epochs, end_learning_rate=0.0)
    optimizer = tf.keras.optimizers.Adam(schedule)

    @tf.function(reduce_retracing=True)
    def step(ids, mask, labels):
        with tf.GradientTape() as tape:
            out = model(input_ids=ids, attention_mask=mask, labels=labels, training=True)
            loss = tf.reduce_mean(out.loss)
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    for epoch in range(args.epochs):
        t0 = time.time()
        rng.shuffle(train)
        losses = []
        for i in range(steps_per_epoch):
            ids, mask, labels = collate(train[i * args.batch_size : (i + 1) * args.batch_size])
            losses.append(float(step(tf.constant(ids), tf.constant(mask), tf.constant(labels))))
        acc, ent = evaluate(model, dev)
        print(f"epoch {epoch + 1} loss {np.mean(losses):.4f} dev acc {acc:.4f} entity acc {ent:.4f} ({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
