"""Answers that are held against references in NumPy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.test_watch_two_scales import KERAS, SCALED, TORCH
from tests.frameworks.watching import found, watch

HEAD = "answers = answers.numpy()\n    truth = y[480:]\n    "
IN_A_FUNCTION = """
def rmse(predicted, wanted):
    return float(np.sqrt(np.mean((predicted - wanted) ** 2)))
"""


@pytest.mark.parametrize(("compared", "wrong"), [
    ("print(np.mean(np.abs(answers - truth)))", True), ("print(np.sqrt(np.mean((truth - answers) ** 2)))", True),
    ("errors = answers - truth\n    print(np.median(errors))", True), ("print(rmse(answers, truth))", True),
    ("answers = answers * spread + middle\n    print(np.mean(np.abs(answers - truth)))", False),
    ("print(np.mean(np.abs(answers - (truth - middle) / spread)))", False),
    ("print(np.mean(np.abs(truth - truth.mean())))", False), ("print(np.mean(np.abs(answers[:9] - truth[:9])))", False)])
def test_scales(tmp_path: Path, compared: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = IN_A_FUNCTION + TORCH.replace("WANTED", SCALED).replace("COMPARED", HEAD + compared)
    seen = watch(tmp_path, text, steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E519" in found(seen)) is wrong, seen.evaluation.two_scales
    if wrong and seen.evaluation.two_scales is not None:
        assert seen.evaluation.two_scales.rows == 160


@pytest.mark.parametrize("name", test_watch_keras.KERAS)
@pytest.mark.parametrize(("answers", "compared", "wrong"), [
    ("model.predict(x[480:], verbose=0)", "np.mean((answers - truth) ** 2)", True),
    ("model.predict(x[480:], verbose=0)", "np.mean((truth - answers) ** 2)", True),
    ("model.predict(x[480:], verbose=0)", "np.mean((model.predict(x[480:], verbose=0) - truth) ** 2)", True),
    ("model.predict(x[480:], verbose=0)[:, 0]", "np.mean((answers - truth) ** 2)", False),
    ("model.predict(x[480:], verbose=0)", "np.mean((answers - truth[:, None]) ** 2)", False),
    ("model.predict(x[480:], verbose=0)", "np.mean((answers - answers[:, 0]) ** 2)", False)])
def test_every_pair(tmp_path: Path, name: str, answers: str, compared: str, *, wrong: bool) -> None:
    text = KERAS.replace("WANTED", "y").replace("NAME", name)
    text = text.replace("answers = model.predict(x[480:], verbose=0)[:, 0]", f"answers = {answers}")
    text = text.replace("print(mean_absolute_error(y[480:], COMPARED))", f"truth = y[480:]\nprint({compared})")
    seen = test_watch_keras.watch(tmp_path, text, steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    pairs = [made for made in seen.evaluation.decisions if made.how == "pairs"]
    assert bool(pairs) is wrong
    assert ("E501" in found(seen)) is wrong
    if wrong:
        assert pairs[0].values == 160
        assert pairs[0].site is not None
        assert "np.mean" in pairs[0].site.source


CLASSES = """
import numpy as np, NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 6)).astype("float32")
y = (x[:, :1] > 0).astype("int64")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x[:480], y[:480], batch_size=32, epochs=2, verbose=0)
answers, truth = model.predict(x[480:], verbose=0).argmax(1), y[480:]
print(np.mean(answers == COMPARED))
"""


@pytest.mark.parametrize(("compared", "wrong"), [("truth", True), ("truth[:, 0]", False)])
def test_classes(tmp_path: Path, compared: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, CLASSES.replace("NAME", "keras").replace("COMPARED", compared), steps=30, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("E501" in found(seen)) is wrong
