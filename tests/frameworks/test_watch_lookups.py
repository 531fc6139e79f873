"""Labels that a lookup of Keras numbers from 1, since it keeps 0 for what it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import watch

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


TWICE = """
import numpy as np
import keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
middles = rng.normal(size=(3, 6))
kinds = np.r_[rng.choice(3, 400, p=[0.5, 0.3, 0.2]), rng.choice(3, 200, p=[0.2, 0.3, 0.5])]
x = (3 * middles[kinds] + rng.normal(size=(600, 6))).astype("float32")
names = np.array(["ash", "elm", "oak"])[kinds]
known = keras.layers.StringLookup(num_oov_indices=0)
known.adapt(names)
def ids_of(names):
    lookup = keras.layers.StringLookup(num_oov_indices=0)
    lookup.adapt(names)
    return LOOKUP(names).numpy()
y = np.r_[ids_of(names[:400]), ids_of(names[400:])]
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(x[:400], y[:400], epochs=4, verbose=0)
model.evaluate(x[400:], y[400:], verbose=0)
"""


@pytest.mark.parametrize(("lookup", "wrong"), [("lookup", True), ("known", False)])
def test_a_vocabulary_that_each_part_learns_by_itself(tmp_path: Path, lookup: str, *, wrong: bool) -> None:
    seen = watch(tmp_path, TWICE.replace("LOOKUP", lookup), probe_seconds=0.5)
    told = next(result.finding for result in walk(seen) if result.code == "E511")
    assert (told is not None) is wrong
    if told is not None:
        assert told.site is not None
        assert told.site.source == "lookup.adapt(names)"
