"""Decoders in a loop with a tape, and what they are given beside what they are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import watch
from tests.frameworks.watching import found

TAPE = """
import numpy as np
import tensorflow as tf
import NAME as keras
from NAME import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
source = rng.integers(3, 12, (400, 6)).astype("int32")
target = np.concatenate([source[:, ::-1], np.full((400, 1), 1), np.zeros((400, 2), int)], 1).astype("int32")
begun = np.concatenate([np.full((400, 1), 2), target[:, :-1]], 1).astype("int32")
class Translator(keras.Model):
    def __init__(self):
        super().__init__()
        self.words, self.reader = layers.Embedding(12, 16), layers.GRU(24, return_state=True)
        self.writer, self.out = layers.GRU(24, return_sequences=True), layers.Dense(12)
    def call(self, given):
        read, written = given
        _, state = self.reader(self.words(read))
        return self.out(self.writer(self.words(written), initial_state=state))
model, optimizer = Translator(), keras.optimizers.Adam(1e-2)
@tf.function
def step(read, written, wanted):
    with tf.GradientTape() as tape:
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=model((read, written), training=True))
        kept = tf.cast(wanted != 0, tf.float32)
        loss = tf.reduce_sum(each * kept) / tf.reduce_sum(kept)
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss
for epoch in range(2):
    for first in range(0, 400, 40):
        rows = slice(first, first + 40)
        step(source[rows], tf.constant(GIVEN[rows]), tf.constant(WANTED[rows]))
"""


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("given", "wanted", "fault"), [("target", "target", True), ("begun", "target", False)])
def test_a_translation(tmp_path: Path, name: str, given: str, wanted: str, *, fault: bool) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, TAPE.replace("NAME", name).replace("GIVEN", given).replace("WANTED", wanted), steps=20, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert not [text for text in seen.warnings if "watching failed" in text]
    assert ("L211" in found(seen)) is fault, seen.probes.shift
