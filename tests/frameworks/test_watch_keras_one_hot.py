"""Keras under watch: labels that count from 1, and one-hot rows of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

LOOP = HEAD + """
kinds = (x[:, 0] > 0) + 2 * (x[:, 1] > 0) + FIRST
net = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(4)])
optimizer = keras.optimizers.Adam(0.01)
@tf.function
def step(xb, kb):
    with tf.GradientTape() as tape:
        wanted = tf.one_hot(kb, 4) * 0.95 + 0.05 / 4
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(wanted, net(xb, training=True)))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return loss
for epoch in range(2):
    for xb, kb in tf.data.Dataset.from_tensor_slices((x, kinds)).shuffle(640).batch(32):
        step(xb, kb)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("first", "code"), [("1", "L201"), ("0", None)])
def test_labels_that_count_from_one(tmp_path: Path, name: str, first: str, code: str | None) -> None:
    """Smoothed, so that no row is zero throughout; the other classes are learnt."""
    seen = watch(tmp_path, LOOP.replace("FIRST", first).replace("NAME", name), steps=40)
    assert found(seen) == ([code] if code else []), seen.one_hot
    if code:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "labels are 4" in finding.message
        assert finding.site is not None
        assert "tf.one_hot(kb, 4)" in finding.site.source
