"""Labels that a lookup of Keras numbers from 1, since it keeps 0 for what it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras as small

TEXT = small.HEAD + """
names = np.array(["red", "green", "blue"])[np.digitize(x[:, 0], [-0.5, 0.5])]
lookup = keras.layers.StringLookup(vocabulary=["red", "green", "blue"]OPTION)
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3, activation="softmax")])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(tf.data.Dataset.from_tensor_slices((x, lookup(names))).batch(32), epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("option", "fault"), [("", True), (", num_oov_indices=0", False)])
def test_labels(tmp_path: Path, option: str, *, fault: bool) -> None:
    seen = small.watch(tmp_path, TEXT.replace("NAME", "keras").replace("OPTION", option))
    finding = next((result.finding for result in walk(seen) if result.finding and result.code == "L201"), None)
    assert (finding is not None) == fault, seen.exception
    if finding is not None:
        assert finding.site is not None
        assert finding.site.source.startswith("lookup = keras.layers.StringLookup")
        assert "num_oov_indices=0" in finding.remedy
