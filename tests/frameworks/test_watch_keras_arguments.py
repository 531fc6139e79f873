"""Arguments of older optimizers that Keras takes no notice of."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import COMPILE, FIT, HEAD, MODEL, watch
from tests.frameworks.watching import found

ADAM = "keras.optimizers.Adam(learning_rate=0.01)"


@pytest.mark.parametrize(("name", "made", "wanted"), [
    ("tf_keras", "keras.optimizers.SGD(lr=0.5)", "learning_rate=0.5"),
    ("keras", "keras.optimizers.SGD(0.05, decay=1e-3)", "InverseTimeDecay"),
    # The default, heeded, and an older class that takes it.
    ("tf_keras", "keras.optimizers.Adam(lr=0.001)", ""), ("tf_keras", "keras.optimizers.SGD(learning_rate=0.05)", ""),
    ("tf_keras", "keras.optimizers.legacy.SGD(lr=0.05, decay=1e-3)", ""), ("keras", "keras.optimizers.SGD(0.05, decay=0.0)", "")])
def test_passed_over(tmp_path: Path, name: str, made: str, wanted: str) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, (HEAD + MODEL + COMPILE.replace(ADAM, made) + FIT).replace("NAME", name))
    assert (found(seen)[:1] == ["A701"]) is bool(wanted), (found(seen), seen.optimizer)
    if wanted:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert wanted in finding.remedy
        assert finding.site is not None
        assert "SGD(" in finding.site.source


TWICE = HEAD + """
pictures = np.random.randint(0, 256, (640, 10)).astype("float32")
y = (pictures[:, 0] > pictures[:, 1]).astype("int64")
model = keras.Sequential([keras.Input((10,)), keras.layers.Rescaling(1.0 / 255), keras.layers.Dense(32, activation="relu"),
                          keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(GIVEN, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", ["tf_keras", "keras"])
@pytest.mark.parametrize(("given", "fault"), [("pictures / 255", True), ("pictures", False)])
def test_inputs_that_are_scaled_twice(tmp_path: Path, name: str, given: str, *, fault: bool) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, TWICE.replace("NAME", name).replace("GIVEN", given), steps=60, probe_seconds=6)
    assert (found(seen) == ["D108"]) is fault, (found(seen), seen.probes)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "Scale once" in finding.remedy
        assert finding.site is not None
        assert "Rescaling" in finding.site.source
