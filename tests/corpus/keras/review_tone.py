"""Tone classifier for short product reviews (word embeddings + conv), big effective batch
through micro-batches because the production encoder does not fit otherwise."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import math
import numpy as np
import tensorflow as tf
import keras

POS = "great solid love sturdy quick perfect bright comfy reliable neat".split()
NEG = "awful flimsy hate broken slow useless dim itchy noisy cheap".split()
NEUTRAL = ("the a it this was is box price colour order shop week bought arrived item lamp chair "
           "phone cable shoes for my and with after two days size use again store model").split()
NEGATORS = ["not", "never", "hardly"]
VOCAB = ["<pad>"] + POS + NEG + NEUTRAL + NEGATORS
INDEX = {w: i for i, w in enumerate(VOCAB)}
MAXLEN = 20


def write_review(rng):
    label = int(rng.random() < 0.5)
    words = []
    for _ in range(rng.integers(2, 5)):
        words += list(rng.choice(NEUTRAL, rng.integers(1, 4)))
        good = label if rng.random() < 0.85 else 1 - label
        if rng.random() < 0.4:
            words += [rng.choice(NEGATORS), rng.choice(NEG if good else POS)]
        else:
            words.append(rng.choice(POS if good else NEG))
    ids = [INDEX[w] for w in words][:MAXLEN]
    return ids + [0] * (MAXLEN - len(ids)), label


def corpus(n, rng):
    rows, labels = zip(*(write_review(rng) for _ in range(n)))
    return np.array(rows, "int32"), np.array(labels, "float32")


def build_model():
    tokens = keras.Input((MAXLEN,), dtype="int32")
    x = keras.layers.Embedding(len(VOCAB), 24,
                               embeddings_initializer=keras.initializers.RandomNormal(stddev=0.3))(tokens)
    x = keras.layers.Conv1D(48, 2, activation="relu", padding="same")(x)
    x = keras.layers.GlobalMaxPooling1D()(x)
    x = keras.layers.Dense(32, activation="relu")(x)
    return keras.Model(tokens, keras.layers.Dense(1)(x))


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--micro", type=int, default=16)
    p.add_argument("--accum", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.3)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--clip", type=float, default=5.0)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--seed", type=int, default=2)
    return p.parse_args()


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x_train, y_train = corpus(6144, rng)
    x_test, y_test = corpus(2000, rng)

    model = build_model()
    params = model.trainable_variables
    updates_per_epoch = len(x_train) // (args.micro * args.accum)
    total = args.epochs * updates_per_epoch
    opt = keras.optimizers.SGD(
        keras.optimizers.schedules.CosineDecay(
            0.0, total, warmup_target=args.lr, warmup_steps=max(1, total // 10)),
        momentum=args.momentum)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    buffers = [tf.Variable(tf.zeros_like(p), trainable=False) for p in params]

    @tf.function
    def micro_step(x, y):
        with tf.GradientTape() as tape:
            loss = bce(y[:, None], model(x, training=True))
        for buf, grad in zip(buffers, tape.gradient(loss, params)):
            buf.assign_add(tf.convert_to_tensor(grad))
        return loss

    @tf.function
    def apply_step():
        grads, norm = tf.clip_by_global_norm([b.read_value() for b in buffers], args.clip)
        opt.apply_gradients(zip(grads, params))
        for buf in buffers:
            buf.assign(tf.zeros_like(buf))
        return norm

    stream = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(
        len(x_train), seed=args.seed).batch(args.micro, drop_remainder=True).prefetch(4)
    for epoch in range(args.epochs):
        losses, norms = [], []
        for i, (x, y) in enumerate(stream, start=1):
            losses.append(micro_step(x, y))
            if i % args.accum == 0:
                norms.append(apply_step())
        if epoch % 2 == 1:
            print(f"epoch {epoch + 1:2d}  loss {np.mean(losses):.4f}  "
                  f"grad norm {np.mean(norms):.3f}  updates {len(norms)}")

    logits = model.predict(x_test, batch_size=500, verbose=0)[:, 0]
    acc = np.mean((logits > 0) == (y_test > 0.5))
    nll = float(bce(y_test[:, None], logits[:, None]))
    print(f"test accuracy {acc:.4f}  (majority {max(y_test.mean(), 1 - y_test.mean()):.4f})"
          f"  test loss {nll:.4f} (log 2 = {math.log(2):.4f})")


if __name__ == "__main__":
    main()
