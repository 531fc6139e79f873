"""A tape that is opened around the whole loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, watch
from tests.frameworks.watching import found

START = """
net = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.01)
batches = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
"""
AROUND = """
for epoch in range(2):
    with tf.GradientTape(persistent=True) as tape:
        for xb, yb in batches:
            loss = loss_of(yb, net(xb, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
"""
INSIDE = """
for epoch in range(2):
    for xb, yb in batches:
        with tf.GradientTape(persistent=True) as tape:
            loss = loss_of(yb, net(xb, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
"""
UNROLLED = """
for xb, yb in batches:
    with tf.GradientTape(persistent=True) as outer:
        for turn in range(3):
            with tf.GradientTape() as tape:
                loss = loss_of(yb, net(xb, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
"""


@pytest.mark.parametrize(("loop", "steps"), [(AROUND, 20), (INSIDE, 0), (UNROLLED, 3)], ids=["around", "inside", "unrolled"])
def test_how_long_a_tape_stays_open(tmp_path: Path, loop: str, steps: int) -> None:
    seen = watch(tmp_path, (HEAD + START + loop).replace("NAME", "keras"))
    assert seen.memory.tape_steps == steps
    assert ("R602" in found(seen)) is (steps > 3)
    if steps > 3:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert "as tape" in finding.site.source
