"""Loops with `tf.GradientTape` that never come to their optimizer's step, and loops that take other ways."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.test_watch_keras_tape import text
from tests.frameworks.watching import found

STEP = """
optimizer = keras.optimizers.OPTIMIZER
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

@tf.function
def gradients_of(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    return loss, tape.gradient(loss, model.trainable_variables)

for epoch in range(4):
    total = [tf.zeros_like(v) for v in model.trainable_variables]
    for number, (xb, yb) in enumerate(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640, seed=0).batch(32)):
        loss, gradients = gradients_of(xb, yb)
        total = [a + b / EVERY for a, b in zip(total, gradients)]
        if (number + 1) % EVERY == 0:
            TAKEN
            total = [tf.zeros_like(v) for v in model.trainable_variables]
"""
APPLY = "optimizer.apply_gradients(zip(total, model.trainable_variables))"
BY_HAND = "[v.assign_sub(0.1 * a) for v, a in zip(model.trainable_variables, total)]"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("every", "taken", "code"), [(900, APPLY, "S404"), (4, APPLY, None), (2, BY_HAND, None)])
def test_gradients_that_no_step_follows(tmp_path: Path, name: str, every: int, taken: str, code: str | None) -> None:
    seen = watch(tmp_path, text(name, STEP.replace("EVERY", str(every)).replace("TAKEN", taken)))
    assert seen.exception is None
    assert ("S404" in found(seen)) is (code is not None), found(seen)
    if code is not None:
        assert (seen.backward_without_step, seen.stopped) == (80, "finished")
        assert seen.sites["step_written"].source == APPLY
    elif taken is APPLY:
        assert seen.backward_without_step == 0
