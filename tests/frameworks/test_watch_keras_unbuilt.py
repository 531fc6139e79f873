"""Weights that are listed before the layers have them: the tape is asked for the rest only."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tensorflow")

PARTS = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 12)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int32")
encoder = keras.Sequential([FIRST keras.layers.Dense(16, activation="relu"), keras.layers.Dense(4, activation="tanh")])
head = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)])
weights = encoder.trainable_variables + head.trainable_variables
optimizer = keras.optimizers.Adam(0.01)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
for epoch in range(4):
    for start in range(0, 640, 32):
        with tf.GradientTape() as tape:
            loss = loss_of(y[start:start + 32], head(encoder(x[start:start + 32], training=True), training=True))
        asked = ASKED
        optimizer.apply_gradients(zip(tape.gradient(loss, asked), asked))
"""


@pytest.mark.parametrize(("first", "asked", "fault"), [
    ("", "weights", True), ("keras.Input((12,)),", "weights", False), ("", "encoder.trainable_variables + head.trainable_variables", False),
    ("keras.Input((12,)),", "head.trainable_variables", False)])
def test_a_list_of_weights_that_is_made_too_early(tmp_path: Path, first: str, asked: str, *, fault: bool) -> None:
    seen = watch(tmp_path, PARTS.replace("FIRST", first).replace("ASKED", asked))
    assert ("G303" in found(seen)) is fault, (found(seen), seen.unasked)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source.startswith("weights = encoder")
        assert len(seen.unasked.left if seen.unasked else []) == 4
