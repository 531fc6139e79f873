"""Keras trainings that come to their own end: whether what was learnt goes beyond the rows it was learnt from."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import watch

SCRIPT = """
import numpy as np
import keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(1200, 8)).astype("float32")
y = TARGET
wanted = WANTED
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(256, activation="relu"), keras.layers.Dense(256, activation="relu"),
                          keras.layers.Dense(WIDTH)])
model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=LOSS)
model.fit(x[:600], wanted[:600], validation_data=(x[600:], wanted[600:]), batch_size=32, epochs=25, verbose=0)
"""


@pytest.mark.parametrize(("target", "width", "loss"), [
    ("(x[:, 0] + x[:, 1]).astype('float32')", "1", "'mse'"),
    ("(x[:, 0] + x[:, 1] > 0).astype('int64')", "2", "keras.losses.SparseCategoricalCrossentropy(from_logits=True)")])
@pytest.mark.parametrize(("wanted", "fault"), [("rng.permutation(y)", True), ("y", False)])
def test_what_is_learnt_goes_no_further(tmp_path: Path, target: str, width: str, loss: str, wanted: str, *, fault: bool) -> None:
    text = SCRIPT.replace("TARGET", target).replace("WIDTH", width).replace("LOSS", loss).replace("WANTED", wanted)
    seen = watch(tmp_path, text, seconds=60, onward_seconds=40.0)
    relation = seen.evaluation.relation
    assert relation is not None
    assert relation.rows == 600
    assert relation.trained > 0.8
    assert ([result.code for result in walk(seen) if result.state == "found"] == ["D106"]) is fault


def test_rows_of_a_later_training_are_not_those_of_an_earlier_evaluation(tmp_path: Path) -> None:
    """A second `fit` learns its rows; the evaluation is that of the first, which learnt nothing."""
    text = SCRIPT.replace("TARGET", "(x[:, 0] + x[:, 1] > 0).astype('int64')").replace("WIDTH", "2").replace("WANTED", "y")
    text = text.replace("LOSS", "keras.losses.SparseCategoricalCrossentropy(from_logits=True)")
    text = text.replace("Adam(3e-3)", "SGD(1e-9)").replace("model.compile", "model.layers[0].trainable = False\nmodel.compile")
    seen = watch(tmp_path, text + "model.layers[0].trainable = True\n"
                                  "model.compile(optimizer=keras.optimizers.Adam(3e-3), loss=model.loss)\n"
                                  "model.fit(x[:600], wanted[:600], epochs=25, verbose=0)\n", seconds=60, onward_seconds=40.0)
    relation = seen.evaluation.relation
    assert seen.further is not None
    assert relation is not None
    assert relation.trained < 0.8
