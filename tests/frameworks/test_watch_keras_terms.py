"""Several outputs of a Keras model, each with a loss of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tf_keras")
pytest.importorskip("tensorflow")

SCRIPT = """
import numpy as np
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(960, 12)).astype("float32")
place = (SIZE * (x[:, :2] + 1.0)).astype("float32")
kind = (x[:, 2] * x[:, 3] > 0).astype("int64")
given = keras.Input((12,))
inner = keras.layers.Dense(24, activation="relu")(given)
heads = {"place": keras.layers.Dense(2, name="place")(inner), "kind": keras.layers.Dense(2, name="kind")(inner)}
model = keras.Model(given, heads)
model.compile(
    keras.optimizers.Adam(0.003),
    loss={"place": "mse", "kind": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
    loss_weights=WEIGHTS)
model.fit(x, {"place": place, "kind": kind}, batch_size=16, epochs=1, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("size", "weights", "codes"), [
    (40.0, None, ["L207"]), (40.0, {"place": 1e-4, "kind": 1.0}, []), (1.0, None, [])])
def test_terms_as_they_are_summed(tmp_path: Path, name: str, size: float, weights: dict[str, float] | None, codes: list[str]) -> None:
    seen = watch(tmp_path, SCRIPT.replace("NAME", name).replace("SIZE", str(size)).replace("WEIGHTS", repr(weights)), steps=60)
    assert seen.exception is None
    first = {term["name"]: term for term in seen.loss_terms if term["step"] == 1}
    assert set(first) == {"mse", "sparse_categorical"}, seen.warnings
    calls = {call.name: call.value for call in seen.loss_calls if call.step == 1}
    assert first["mse"]["value"] == pytest.approx((weights or {"place": 1.0})["place"] * (calls["mse"] or 0), rel=1e-3)
    assert all(term["gradient_norm"] > 0 for term in first.values())
    assert found(seen) == codes, (first, [step.loss for step in seen.steps])
    if codes:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "mse drowns sparse_categorical" in finding.message
