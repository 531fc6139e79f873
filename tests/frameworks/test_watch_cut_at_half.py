"""Raw scores that a script of Keras cuts by itself before anything is asked about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

SCRIPT = """
import keras, numpy as np
from sklearn.metrics import f1_score
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(600, 8)).astype("float32")
y = (x[:, 0] + x[:, 1] > 0.4).astype("float32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1ENDING)])
model.compile(keras.optimizers.Adam(0.01), keras.losses.BinaryCrossentropy(from_logits=LOGITS))
model.fit(x[:400], y[:400], epochs=3, verbose=0)
score = model.predict(x[400:], verbose=0)[:, 0]
flagged = score > CUT
print(ASKED)
"""
F1, EQUAL = "f1_score(y[400:], flagged)", "np.mean(flagged == (y[400:] > 0))"


@pytest.mark.parametrize("asked", [F1, EQUAL], ids=["a metric", "by hand"])
@pytest.mark.parametrize(("ending", "logits", "cut", "wrong"), [
    ("", "True", "0.5", True), ("", "True", "0.0", False), ("", "True", "-0.4", False), (", activation='sigmoid'", "False", "0.5", False)])
def test_where_scores_are_cut(tmp_path: Path, asked: str, ending: str, logits: str, cut: str, *, wrong: bool) -> None:
    pytest.importorskip("keras")
    pytest.importorskip("sklearn")
    text = SCRIPT.replace("ENDING", ending).replace("LOGITS", logits).replace("CUT", cut).replace("ASKED", asked)
    seen = watch(tmp_path, text, probe_seconds=0.0, steps=400)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("E501" in found(seen)) is wrong, seen.evaluation.decisions
    if wrong:
        told = next(result.finding for result in walk(seen) if result.code == "E501")
        assert told is not None
        assert told.site is not None
        assert told.site.source == "flagged = score > 0.5"
        assert "tf.sigmoid" in told.remedy
