"""Weights of Keras that are let learn after `compile`, where one line of `fit` serves all trainings."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch

STAGES = """
def train(model, epochs):
    BEFORE
    model.fit(x, y, batch_size=16, epochs=epochs, verbose=0)
base = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu")])
base.trainable = False
model = keras.Sequential([keras.Input((10,)), base, keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
train(model, 1)
AFTER
train(model, 2)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("before", "after", "line"), [
    ("pass", "base.trainable = True", "base.trainable = True"), ("base.trainable = epochs > 1", "", "model.fit(")])
def test_the_line_that_is_named(tmp_path: Path, name: str, before: str, after: str, line: str) -> None:
    seen = watch(tmp_path, (HEAD + STAGES).replace("NAME", name).replace("BEFORE", before).replace("AFTER", after))
    result = next(result for result in walk(seen) if result.code == "G303")
    assert result.finding is not None
    assert result.finding.site is not None
    assert result.finding.site.source.startswith(line)
