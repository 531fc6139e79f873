"""Fault diagnosis for stairlift motors from the current drawn on one ride."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import argparse
import logging
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

logger = logging.getLogger("stairlift")

FAULTS = ["healthy", "worn gear", "loose rail", "weak battery", "dry bearing"]
SAMPLES = 192
WIDTH = 16


def ride(rng, fault):
    t = np.linspace(0, 1, SAMPLES)
    speed = rng.uniform(18, 26)
    load = rng.uniform(0.6, 1.4)
    amp = load * (1 - np.exp(-t * 30)) + 0.08 * np.sin(2 * np.pi * speed * t + rng.uniform(0, 6.28))
    if fault == 1:
        amp += 0.16 * (np.sin(2 * np.pi * speed / 3 * t + rng.uniform(0, 6.28)) > 0.85)
    elif fault == 2:
        for spot in rng.uniform(0.1, 0.9, rng.integers(2, 4)):
            amp += 0.3 * np.exp(-((t - spot) / 0.008) ** 2)
    elif fault == 3:
        amp += 0.1 * np.sin(2 * np.pi * 4 * t + rng.uniform(0, 6.28))
    elif fault == 4:
        amp += 0.08 * np.sin(2 * np.pi * 2.1 * speed * t + rng.uniform(0, 6.28))
    return amp + rng.normal(0, 0.05, SAMPLES)


def make_rides(n, seed):
    rng = np.random.default_rng(seed)
    faults = rng.integers(0, len(FAULTS), n)
    rides = np.stack([ride(rng, f) for f in faults]).astype("float32")
    rides = (rides - rides.mean(axis=1, keepdims=True)) / 0.2
    return rides[..., None], faults.astype("int32")


def build_encoder(width):
    return keras.Sequential([
        keras.Input((SAMPLES, 1)),
        layers.Conv1D(width, 9, strides=2, padding="same"),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.Conv1D(width, 7, strides=2, padding="same"),
        layers.BatchNormalization(momentum=0.9),
        layers.ReLU(),
        layers.GlobalAveragePooling1D(),
        layers.Dense(width, activation="relu"),
    ], name="encoder")


def build_head():
    return keras.Sequential([
        keras.Input((WIDTH,)),
        layers.Dropout(0.1),
        layers.Dense(len(FAULTS)),
    ], name="head")


class Trainer:
    def __init__(self, args, steps_per_epoch):
        self.args = args
        self.encoder = build_encoder(WIDTH)
        self.head = build_head()
        self.weights = self.encoder.trainable_variables + self.head.trainable_variables
        schedule = keras.optimizers.schedules.CosineDecay(args.lr, args.epochs * steps_per_epoch, alpha=0.05)
        self.optimizer = keras.optimizers.Adam(schedule)
        self.loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.loss = keras.metrics.Mean()
        self.spread = keras.metrics.Mean()
        self.acc = keras.metrics.SparseCategoricalAccuracy()

    @tf.function
    def train_step(self, x, y):
        x = x * tf.random.uniform((tf.shape(x)[0], 1, 1), 0.9, 1.1)
        z = self.encoder(x, training=True)
        self.spread.update_state(tf.math.reduce_std(z, axis=0))
        with tf.GradientTape() as tape:
            logits = self.head(z, training=True)
            loss = self.loss_fn(y, logits)
        grads = tape.gradient(loss, self.weights)
        grads, _ = tf.clip_by_global_norm(grads, self.args.clip)
        self.optimizer.apply_gradients(zip(grads, self.weights))
        self.loss.update_state(loss)
        return loss

    @tf.function
    def test_step(self, x, y):
        logits = self.head(self.encoder(x, training=False), training=False)
        self.acc.update_state(y, logits)
        return tf.argmax(logits, axis=-1)

    def run_epoch(self, ds):
        self.loss.reset_state()
        self.spread.reset_state()
        for x, y in ds:
            self.train_step(x, y)
        return float(self.loss.result()), float(self.spread.result())

    def evaluate(self, ds):
        self.acc.reset_state()
        preds = [self.test_step(x, y).numpy() for x, y in ds]
        return float(self.acc.result()), np.concatenate(preds)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--rides", type=int, default=1500)
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--clip", type=float, default=1.0)
    p.add_argument("--seed", type=int, default=41)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    keras.utils.set_random_seed(args.seed)

    x, y = make_rides(args.rides, args.seed)
    cut = int(0.8 * len(x))
    train_ds = tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut])).shuffle(cut, seed=args.seed)
    train_ds = train_ds.batch(args.batch_size, drop_remainder=True)
    test_ds = tf.data.Dataset.from_tensor_slices((x[cut:], y[cut:])).batch(128)

    trainer = Trainer(args, len(train_ds))
    started = time.time()
    for epoch in range(args.epochs):
        loss, spread = trainer.run_epoch(train_ds)
        acc, _ = trainer.evaluate(test_ds)
        logger.info("epoch %2d  loss %.3f  spread %.3f  test acc %.3f  (%.1fs)",
                    epoch + 1, loss, spread, acc, time.time() - started)
    acc, preds = trainer.evaluate(test_ds)
    for k, name in enumerate(FAULTS):
        mask = y[cut:] == k
        logger.info("%-13s recall %.3f", name, (preds[mask] == k).mean())


if __name__ == "__main__":
    main()
