"""Loops with a tape of their own: one function that trains and evaluates, under a tape in both cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

SHARED = HEAD + """
net = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dropout(0.3), keras.layers.Dense(2)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.Adam(0.01)
def batch(xb, yb, train):
    with tf.GradientTape() as tape:
        scores = net(xb, training=MODE)
        loss = loss_of(yb, scores)
    if train:
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
    return scores
for epoch in range(2):
    for at in range(0, 512, 32):
        batch(x[at:at + 32], y[at:at + 32], True)
right = [float(np.mean(np.argmax(batch(x[at:at + 32], y[at:at + 32], False), 1) == y[at:at + 32])) for at in range(512, 640, 32)]
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("mode", "fault"), [("True", True), ("train", False)])
def test_a_function_that_trains_and_evaluates(tmp_path: Path, name: str, mode: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SHARED.replace("MODE", mode).replace("NAME", name), steps=20)
    assert seen.evaluation.forwards >= 2
    assert seen.evaluation.in_training_mode == (seen.evaluation.forwards if fault else 0)
    assert found(seen) == (["E502"] if fault else [])
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert "net(xb" in finding.site.source


TWO = SHARED.replace("""    if train:
""", """    with tf.GradientTape() as other:
        again = loss_of(yb, net(xb, training=True))
    if train:
        optimizer.apply_gradients(zip(other.gradient(again, net.trainable_variables), net.trainable_variables))
""").replace("MODE", "train")


def test_two_tapes_of_which_both_are_asked(tmp_path: Path) -> None:
    """The first is asked only after the second was entered; in the evaluation, in training mode by the second, neither is."""
    seen = watch(tmp_path, TWO.replace("NAME", "keras").split("right =")[0], steps=20)
    assert seen.evaluation.forwards == 0
    assert found(seen) == []
