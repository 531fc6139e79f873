"""Keras under watch: amounts that are far from what was meant: norms that are clipped to, scales of layers, targets of every output."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.test_watch_keras import HEAD, KERAS, watch
from tests.frameworks.watching import found

CLIPPED = HEAD + """
y = x[:, 0] - 2 * x[:, 1] + np.sin(x[:, 2])
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.SGD(0.03, momentum=0.9, CLIP), loss="mse")
model.fit(x, y, batch_size=32, epochs=6, verbose=0)
"""
SHARED = HEAD + """
y = np.arange(640) % 3
x = np.random.randn(640, 20, 4)
x[:, :, 2] += 2 * (y[:, None] - 1)
x = (np.array([2e5, 300.0, 0.0, 0.0]) + np.array([9e3, 5.0, 0.02, 0.02]) * x).astype("float32")
norm = keras.layers.Normalization(axis=AXIS)
norm.adapt(x)
model = keras.Sequential([keras.Input((20, 4)), norm, keras.layers.Conv1D(24, 5, activation="relu"),
                          keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(5e-3), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=32, epochs=10, verbose=0)
"""
SPREAD = HEAD + """
y = (x[:, :5].argmax(1))TARGET
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(5)])
model.compile(keras.optimizers.Adam(0.01), keras.losses.LOSS)
model.fit(x, y, batch_size=32, epochs=3, verbose=0)
"""


@pytest.mark.parametrize("keras", KERAS)
@pytest.mark.parametrize(("clip", "fault"), [("global_clipnorm=1e-3", True), ("clipnorm=1e-3", True), ("global_clipnorm=10.0", False)])
def test_a_norm_that_leaves_nothing(tmp_path: Path, keras: str, clip: str, *, fault: bool) -> None:
    seen = watch(tmp_path, CLIPPED.replace("NAME", keras).replace("CLIP", clip), steps=80, probe_seconds=5)
    assert found(seen) == (["S406"] if fault else []), seen.probes.restraints
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "Clipping leaves" in finding.message
        assert finding.site is not None
        assert clip in finding.site.source


@pytest.mark.parametrize("keras", KERAS)
@pytest.mark.parametrize(("axis", "fault"), [("1", True), ("None", True), ("-1", False)])
def test_a_layer_that_lets_features_share_a_scale(tmp_path: Path, keras: str, axis: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SHARED.replace("NAME", keras).replace("AXIS", axis), steps=120, probe_seconds=5)
    assert ("one_scale" in seen.sites) is fault
    assert found(seen) == (["D108"] if fault else [])


@pytest.mark.parametrize(("target", "loss", "fault"), [
    ("[:, None]", "MeanSquaredError()", True), ("[:, None]", "SparseCategoricalCrossentropy(from_logits=True)", False),
    (".reshape(-1, 1) + np.zeros((1, 5), 'int64')", "MeanSquaredError()", False)])
def test_the_number_of_a_class_for_every_output(tmp_path: Path, target: str, loss: str, *, fault: bool) -> None:
    seen = watch(tmp_path, SPREAD.replace("NAME", "keras").replace("TARGET", target).replace("LOSS", loss))
    assert ("L203" in found(seen)) is fault, found(seen)
