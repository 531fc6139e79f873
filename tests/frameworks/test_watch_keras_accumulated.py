"""Experiments with loops under `tf.GradientTape` that step once for the gradients of several batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import keras_piled
from tests.frameworks.test_watch_keras import HEAD, KERAS, MODEL, watch
from tests.frameworks.watching import found

LISTS = """
optimizer = keras.optimizers.OPTIMIZER
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
BATCHES, TIMES = 4, PART
total, losses = None, []
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640, seed=0).repeat(8).batch(8)
for number, (xb, yb) in enumerate(data):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    total = gradients if total is None else [a + b for a, b in zip(total, gradients)]
    losses.append(float(loss))
    if (number + 1) % BATCHES == 0:
        optimizer.apply_gradients(zip([part * TIMES for part in total], model.trainable_variables))
        total = None
"""
BUFFERS = """
optimizer = keras.optimizers.OPTIMIZER
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
buffers = [tf.Variable(tf.zeros_like(part), trainable=False) for part in model.trainable_variables]

@tf.function
def add(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True)) * PART
    for buffer, part in zip(buffers, tape.gradient(loss, model.trainable_variables)):
        buffer.assign_add(part)
    return loss

@tf.function
def step():
    optimizer.apply_gradients([(tf.convert_to_tensor(part), weight) for part, weight in zip(buffers, model.trainable_variables)])
    for buffer in buffers:
        buffer.assign(tf.zeros_like(buffer))

for number, (xb, yb) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640, seed=0).repeat(8).batch(8)):
    add(xb, yb)
    if number % 4 == 3:
        step()
"""


def text(name: str, loop: str, optimizer: str, part: str = "0.25") -> str:
    return (HEAD + MODEL + loop).replace("OPTIMIZER", optimizer).replace("NAME", name).replace("PART", part)


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("loop", [LISTS, BUFFERS], ids=["lists", "buffers"])
@pytest.mark.parametrize(("optimizer", "code"), [("Adam(30.0)", "S401"), ("SGD(1e-6)", "S402"), ("Adam(0.01)", None)])
def test_a_rate_is_tried(tmp_path: Path, name: str, loop: str, optimizer: str, code: str | None) -> None:
    seen = watch(tmp_path, text(name, loop, optimizer), steps=60, probe_seconds=6)
    assert seen.probes.overfit is not None, seen.probes.skipped
    assert seen.probes.train is not None, seen.probes.skipped
    assert [step.backwards for step in seen.steps[:3]] == [4, 4, 4]
    assert seen.steps[0].loss == pytest.approx(seen.probes.train.losses[0], rel=0.3)
    assert found(seen) == ([code] if code else [])


@pytest.mark.parametrize(("part", "fault"), [("1.0", True), ("0.25", False)])
def test_gradients_that_nobody_divides(tmp_path: Path, part: str, *, fault: bool) -> None:
    seen = watch(tmp_path, text("keras", LISTS, "SGD(0.9)", part), steps=60, probe_seconds=6)
    assert seen.probes.undivided == (4 if fault else 0)
    assert seen.probes.overfit is not None, seen.probes.skipped


@pytest.mark.parametrize("part", ["1.0", "0.25"])
def test_the_same_steps_come_out(tmp_path: Path, part: str) -> None:
    made = text("keras", LISTS, "SGD(0.2)", part).replace("keras.layers.BatchNormalization()", "keras.layers.LayerNormalization()")
    seen = watch(tmp_path, made, steps=12)
    assert seen.probes.train is not None, seen.probes.skipped
    own = [step.loss for step in seen.steps]
    assert np.allclose(own, seen.probes.train.losses[:len(own)], rtol=1e-3), (own, seen.probes.train.losses)


def test_batches_of_several_shapes_are_not_joined(tmp_path: Path) -> None:
    made = text("keras", LISTS, "Adam(0.01)").replace("model(xb,", "model(xb[:, :2 + number % 2, None],")
    made = made.replace("keras.Input((10,)),", "keras.Input((None, 1)), keras.layers.GlobalAveragePooling1D(),")
    seen = watch(tmp_path, made)
    assert "differ in shape" in seen.probes.skipped["overfit"]
    assert found(seen) == []


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("kept", "fault"), [("total", True), ("None", False), ("[0.9 * part for part in total]", False)])
def test_sums_in_a_list_that_are_never_begun_anew(name: str, kept: str, tmp_path: Path, *, fault: bool) -> None:
    script = text(name, LISTS.replace("        total = None", f"        total = {kept}"), "Adam(1e-3)")
    seen = watch(tmp_path, script, steps=24)
    assert ("S403" in found(seen)) is fault, seen.piled
    if fault:
        assert seen.piled.site is not None
        assert seen.piled.site.source.startswith("optimizer.apply_gradients")


@pytest.mark.parametrize(("cleared", "line"), [
    ("def clear():\n    for buffer in buffers:\n        buffer.assign(tf.zeros_like(buffer))\nfor epoch in range(3):\n    clear()\n", 5),
    ("for epoch in range(3):\n    for buffer in buffers:\n        buffer.assign(tf.zeros_like(buffer))\n", 3),
    ("buffers = [tf.Variable(tf.zeros_like(weight)) for weight in weights]\n", None)], ids=["in a function", "in the loop", "nowhere"])
def test_where_sums_are_begun_anew_at_another_time(tmp_path: Path, cleared: str, line: int | None) -> None:
    script = tmp_path / "train.py"
    script.write_text(cleared)
    place = keras_piled.cleared(script)
    assert (place[1] if place is not None else None) == line
