"""Arrays that a script's own arithmetic fills with NaN or infinity."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import watching
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import found

DATA = """
import numpy as np
rng = np.random.default_rng(0)
raw = rng.normal(size=(320, 6)).astype("float32")
raw[:, 3] = FLOOR
y = (raw[:, 0] > 0).astype("int64")
x = PREPARED
"""
TORCH = """
import torch
model = torch.nn.Linear(6, 2)
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    for first in range(0, 320, 32):
        scores = model(torch.from_numpy(x[first:first + 32]))
        loss = torch.nn.functional.cross_entropy(scores, torch.from_numpy(y[first:first + 32]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
KERAS = """
import keras
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, epochs=2, verbose=0)
"""
SCALED, LOGS, MENDED = "(raw - raw.mean(0)) / raw.std(0)", "np.log(np.abs(raw))", "np.nan_to_num((raw - raw.mean(0)) / raw.std(0))"


@pytest.mark.parametrize("training", [TORCH, KERAS], ids=["torch", "keras"])
@pytest.mark.parametrize(("floor", "prepared", "codes"), [
    ("7.0", SCALED, ["L209"]), ("0.0", LOGS, ["L209"]), ("7.0", MENDED, []), ("rng.normal(size=320)", SCALED, [])])
def test_the_line_that_makes_it(tmp_path: Path, training: str, floor: str, prepared: str, codes: list[str]) -> None:
    pytest.importorskip("keras" if training is KERAS else "torch")
    made = (DATA + training).replace("FLOOR", floor).replace("PREPARED", prepared)
    seen = (watch_keras if training is KERAS else watching.watch)(tmp_path, made)
    assert found(seen) == codes
    sites = [result.finding.site for result in walk(seen) if result.finding]
    assert [place.source for place in sites if place] == [f"x = {prepared}"] * len(codes)


@pytest.mark.parametrize(("floor", "codes"), [("0.0", ["L209"]), ("0.1", [])])
def test_tensorflow_does_not_warn(tmp_path: Path, floor: str, codes: list[str]) -> None:
    prepared = "tf.math.log(tf.abs(raw)).numpy()"
    seen = watch_keras(tmp_path, ("import tensorflow as tf" + DATA + KERAS).replace("FLOOR", floor).replace("PREPARED", prepared))
    assert found(seen) == codes
    sites = [result.finding.site for result in walk(seen) if result.finding]
    assert [place.source for place in sites if place] == [f"x = {prepared}"] * len(codes)
