"""Evaluations whose counters run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

TORCH = """
BEFORE
for epoch in range(4):
    model.train()
    WITHIN
    for xb, yb in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for xb, yb in test:
            right += (model(xb).argmax(1) == yb).sum().item()
            total += len(yb)
    print(100 * right / total)
"""


@pytest.mark.parametrize(("before", "within", "codes"), [
    ("right, total = 0, 0", "pass", ["E524"]), ("", "right = total = 0", []), ("right, total = 0, 0", "right, total = 0, 0", [])])
def test_counters_of_a_loop(tmp_path: Path, before: str, within: str, codes: list[str]) -> None:
    text = TORCH.replace("BEFORE", before).replace("WITHIN", within)
    seen = watch(tmp_path, HEAD + text)
    assert found(seen) == codes
    if codes:
        assert seen.running_on is not None
        assert seen.running_on.site is not None
        assert seen.running_on.site.source == "right, total = 0, 0"


def test_a_mean_over_all_of_a_training(tmp_path: Path) -> None:
    text = """
summed = steps = 0
for epoch in range(4):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        summed += loss.item()
        steps += 1
    print(summed / steps)
"""
    assert found(watch(tmp_path, HEAD + text)) == []


KERAS = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
X = np.random.default_rng(0).normal(size=(160, 10)).astype("float32")
y = (X[:, 0] > 0).astype("int32")
train = tf.data.Dataset.from_tensor_slices((X[:96], y[:96])).shuffle(96).batch(16)
test = tf.data.Dataset.from_tensor_slices((X[96:], y[96:])).batch(16)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(1e-2)
held, own = keras.metrics.SparseCategoricalAccuracy(name="held"), keras.metrics.Mean(name="own")
COMPILED
def evaluate(x, label):
    held.update_state(label, model(x, training=False))
for epoch in range(5):
    RESET
    for x, label in train:
        with tf.GradientTape() as tape:
            loss = loss_of(label, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        own.update_state(loss)
    for x, label in test:
        evaluate(x, label)
    print(float(own.result()), float(held.result()))
"""


@pytest.mark.parametrize(("compiled", "reset", "codes"), [
    ("", "pass", ["E524"]), ("@tf.function", "pass", ["E524"]), ("", "held.reset_state()", []), ("@tf.function", "held.reset_state()", [])])
def test_metric_objects(tmp_path: Path, compiled: str, reset: str, codes: list[str]) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("COMPILED", compiled).replace("RESET", reset), steps=60)
    assert found(seen) == codes
    if codes:
        facts = seen.running_on
        assert facts is not None
        assert facts.names == ["held"]
        assert facts.told is not None
        assert facts.alone is not None
        assert facts.alone > facts.told
