"""Units that begin alike stay alike: named in both frameworks; zeros that other weights tell apart are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.frameworks.watch import alike
from tests.frameworks.test_watch_keras import HEAD as KERAS_HEAD
from tests.frameworks.test_watch_keras import watch as watch_keras
from tests.frameworks.watching import HEAD, LOOP, found, watch

FILLED = """
for layer in (model.a, model.b):
    nn.init.constant_(layer.weight, VALUE)
    nn.init.zeros_(layer.bias)
model.drop.p = 0.0
"""
KERAS_MODEL = """
model = keras.Sequential([
    keras.Input((10,)),
    keras.layers.Dense(32, activation="tanh", kernel_initializer="FIRST"),
    keras.layers.Dense(2, kernel_initializer="LAST"),
])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("value", ["0.1", "0.0"])
def test_one_number_for_all_weights(tmp_path: Path, value: str) -> None:
    seen = watch(tmp_path, HEAD + FILLED.replace("VALUE", value) + LOOP)
    assert found(seen) == ["F109"]
    facts = seen.probes.alike
    assert facts is not None
    assert facts.units == 32
    assert facts.constant
    assert facts.value == pytest.approx(float(value))
    assert facts.site is not None
    assert "constant_" in facts.site.source


def test_biases_that_are_drawn_tell_units_apart(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + FILLED.replace("VALUE", "0.1").replace("    nn.init.zeros_(layer.bias)\n", "") + LOOP)
    assert "F109" not in found(seen)


def test_an_output_that_begins_at_zero_is_no_fault(tmp_path: Path) -> None:
    seen = watch(tmp_path, HEAD + "nn.init.zeros_(model.b.weight)\n" + LOOP)
    assert found(seen) == []
    assert seen.probes.alike is None


@pytest.mark.parametrize(("first", "last", "codes"), [("ones", "glorot_uniform", []), ("ones", "ones", ["F109"]),
                                                      ("zeros", "zeros", ["F109"]), ("glorot_uniform", "zeros", [])])
def test_keras(tmp_path: Path, first: str, last: str, codes: list[str]) -> None:
    text = KERAS_HEAD.replace("NAME", "keras") + KERAS_MODEL.replace("FIRST", first).replace("LAST", last)
    assert [code for code in found(watch_keras(tmp_path, text)) if code == "F109"] == codes


def test_weights_that_no_step_reached_tell_nothing_beside_others() -> None:
    drawn, zeros = np.random.default_rng(0).normal(size=(8, 8)), np.zeros((8, 8))
    assert alike.measure([("a", drawn, drawn + 0.1), ("b", zeros, zeros)]) is None
    assert alike.measure([("a", zeros, zeros), ("b", zeros, zeros)]) is not None
    # A constant that dropout, or another layer, has told apart since.
    assert alike.measure([("a", drawn, drawn + 0.1), ("b", zeros, drawn)]) is None
    assert alike.measure([("narrow", zeros[:2], zeros[:2] + 1), ("one input", zeros[:, :1], zeros[:, :1] + 1)]) is None
