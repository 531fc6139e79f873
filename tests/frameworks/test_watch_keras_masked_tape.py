"""Loops with a tape that leave padding out of the mean of their losses themselves: their steps can be taken again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.watching import found, watch

LOOP = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
ids = np.zeros((320, 12), "int64")
for row, length in enumerate(rng.integers(6, 13, 320)):
    ids[row, 0] = rng.integers(1, 12)
    for place in range(1, length):
        ids[row, place] = (ids[row, place - 1] * 5 + rng.integers(0, 2)) % 11 + 1
recurrent = keras.layers.GRU(24, return_sequences=True)
model = keras.Sequential([keras.Input((11,)), keras.layers.Embedding(12, 16), WRAPPED, keras.layers.Dense(12)])
optimizer = keras.optimizers.Adam(1e-2)
def step(batch):
    with tf.GradientTape() as tape:
        scores, target = model(batch[:, :-1], training=True), batch[:, 1:]
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=scores)
        kept = tf.cast(target != 0, tf.float32)
        loss = LOSS
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for epoch in range(4):
    for batch in tf.data.Dataset.from_tensor_slices(ids).shuffle(320, seed=epoch).batch(32):
        step(batch)
"""
MASKED, MEAN = "tf.reduce_sum(each * kept) / tf.reduce_sum(kept)", "tf.reduce_mean(each)"


@pytest.mark.parametrize(("loss", "wrapped", "wrong"), [
    (MASKED, "recurrent", False), (MASKED, "keras.layers.Bidirectional(recurrent)", True),
    (MEAN, "keras.layers.Bidirectional(recurrent)", True)])
def test_a_model_that_sees_what_it_is_asked_for(tmp_path: Path, loss: str, wrapped: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, LOOP.replace("LOSS", loss).replace("WRAPPED", wrapped))
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert seen.probes.train is not None, seen.probes.skipped
    assert seen.probes.shift is not None
    assert ("L211" in found(seen)) is wrong, seen.probes.shift


def test_a_loss_that_leaves_out_something_else(tmp_path: Path) -> None:
    pytest.importorskip("keras")
    seen = watch(tmp_path, LOOP.replace("LOSS", "tf.reduce_sum(each * kept ** 2 * tf.random.uniform([]))").replace("WRAPPED", "recurrent"))
    assert seen.warnings == []
    assert seen.probes.train is None
    assert "not made in one way" in str(seen.probes.skipped)
