"""Predict what a shop visitor is after from the click sequence; sessions are bucketed by length."""
import argparse

import keras
import numpy as np
import tensorflow as tf
from keras import layers

INTENTS = 4
PAGES = 60
EDGES = [12, 32]
SIZES = [160, 40, 4]


def session(rng):
    intent = int(rng.integers(INTENTS))
    kind = rng.choice(3, p=[0.82, 0.09, 0.09])
    length = int([rng.integers(5, 12), rng.integers(14, 32), rng.integers(36, 64)][kind])
    own = np.arange(1 + intent * 10, 11 + intent * 10)
    share = [0.7, 0.5, 0.12][kind]
    clicks = np.where(
        rng.random(length) < share, rng.choice(own, length), rng.integers(1, PAGES, length)
    )
    if kind == 2 and rng.random() < 0.5:
        detour = 1 + 10 * int(rng.integers(INTENTS))
        at = int(rng.integers(0, length - 12))
        clicks[at : at + 8] = rng.integers(detour, detour + 10, 8)
    return clicks.astype("int32"), intent


def dataset(n, seed, shuffle):
    rng = np.random.default_rng(seed)
    rows = [session(rng) for _ in range(n)]

    def gen():
        order = rng.permutation(n) if shuffle else range(n)
        for i in order:
            yield rows[i]

    ds = tf.data.Dataset.from_generator(
        gen,
        output_signature=(tf.TensorSpec((None,), tf.int32), tf.TensorSpec((), tf.int32)),
    )
    return ds.bucket_by_sequence_length(
        lambda c, y: tf.shape(c)[0], bucket_boundaries=EDGES, bucket_batch_sizes=SIZES
    )


def build():
    clicks = keras.Input((None,), dtype="int32")
    h = layers.Embedding(PAGES, 24, mask_zero=True)(clicks)
    h = layers.GRU(32, return_sequences=True)(h)
    h = layers.GlobalAveragePooling1D()(h)
    return keras.Model(clicks, layers.Dense(INTENTS)(h))


def evaluate(forward, ds, loss_fn):
    accs, losses, sizes = [], [], []
    for clicks, y in ds:
        logits = forward(clicks)
        hits = tf.cast(tf.argmax(logits, -1, output_type=tf.int32) == y, tf.float32)
        accs.append(float(tf.reduce_mean(hits)))
        losses.append(float(loss_fn(y, logits)))
        sizes.append(len(y))
    return np.average(losses, weights=sizes), np.average(accs, weights=sizes), sum(sizes)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--lr", type=float, default=2e-3)
    a = p.parse_args()
    keras.utils.set_random_seed(6)
    train, test = dataset(4000, 0, True), dataset(2000, 1, False)
    model = build()
    opt = keras.optimizers.Adam(a.lr)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(reduce_retracing=True)
    def step(clicks, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(clicks, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    @tf.function(reduce_retracing=True)
    def forward(clicks):
        return model(clicks, training=False)

    for epoch in range(a.epochs):
        run = keras.metrics.Mean()
        for clicks, y in train:
            run.update_state(step(clicks, y), sample_weight=len(y))
        loss, acc, n = evaluate(forward, test, loss_fn)
        print(f"epoch {epoch + 1} train {float(run.result()):.3f} | {n} test sessions: loss {loss:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
