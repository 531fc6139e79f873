"""Spoken command classifier on MFCC-like frames, half precision on the trunk.

Written for a T4 box; the float16 policy is kept on CPU so that the numbers match.
"""
import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

os.makedirs("out", exist_ok=True)
keras.mixed_precision.set_global_policy("mixed_float16")

COMMANDS = ["go", "stop", "left", "right", "up", "down"]
FRAMES, COEFS = 20, 13


class CommandBank:
    """Draws utterances: every command is a path through three formant targets."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.targets = rng.normal(0, 1, (len(COMMANDS), 3, COEFS))

    def utterance(self, k, rng):
        speaker = rng.normal(0, 0.6, COEFS)
        speed = rng.uniform(0.8, 1.25)
        pos = np.clip(np.linspace(0, 2, FRAMES) * speed + rng.normal(0, 0.15), 0, 2)
        lo = np.minimum(pos.astype(int), 1)
        w = (pos - lo)[:, None]
        path = (1 - w) * self.targets[k, lo] + w * self.targets[k, lo + 1]
        return path + speaker + rng.normal(0, 0.9, path.shape)

    def draw(self, n, seed):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, len(COMMANDS), n)
        x = np.stack([self.utterance(k, rng) for k in y])
        return x.astype("float32"), y.astype("int32")


def spec_mask(x):
    """Blank a random run of frames per batch."""
    start = tf.random.uniform([], 0, FRAMES - 4, dtype=tf.int32)
    keep = tf.logical_or(tf.range(FRAMES) < start, tf.range(FRAMES) >= start + 3)
    return x * tf.cast(keep, x.dtype)[None, :, None]


class CommandNet(keras.Model):
    def __init__(self, width=96):
        super().__init__()
        self.norm = layers.LayerNormalization(axis=1)
        self.flat = layers.Flatten()
        self.fc1 = layers.Dense(width, activation="relu")
        self.drop = layers.Dropout(0.2)
        self.fc2 = layers.Dense(width, activation="relu")
        self.head = layers.Dense(len(COMMANDS), dtype="float32")

    def call(self, x, training=False):
        h = self.flat(self.norm(x))
        h = self.drop(self.fc1(h), training=training)
        return self.head(self.fc2(h))

    def train_step(self, data):
        x, y = data
        x = spec_mask(x)
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=logits)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        for m in self.metrics:
            if m.name == "loss":
                m.update_state(loss)
            else:
                m.update_state(y, logits)
        return {m.name: m.result() for m in self.metrics}


def main():
    keras.utils.set_random_seed(2)
    bank = CommandBank()
    x_tr, y_tr = bank.draw(2000, 1)
    x_va, y_va = bank.draw(300, 2)
    x_te, y_te = bank.draw(600, 3)

    train = (
        tf.data.Dataset.from_tensor_slices((x_tr, y_tr))
        .shuffle(len(x_tr), seed=0)
        .batch(40)
        .prefetch(2)
    )
    net = CommandNet()
    net.compile(
        optimizer=keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    print("optimizer in use:", type(net.optimizer).__name__)
    net.fit(
        train,
        validation_data=(x_va, y_va),
        epochs=8,
        callbacks=[keras.callbacks.TerminateOnNaN()],
        verbose=2,
    )
    result = net.evaluate(x_te, y_te, verbose=0, return_dict=True)
    majority = np.bincount(y_te).max() / len(y_te)
    print(f"test accuracy {result['accuracy']:.3f}  (most frequent command {majority:.3f})")
    net.save_weights("out/commands.weights.h5")


if __name__ == "__main__":
    main()
