"""Rows of a Keras batch that influence each other, and padding that a recurrent layer reads last."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.checks.base import walk
from harness.frameworks.watch import neighbours
from tests.frameworks.test_watch_keras import KERAS, watch
from tests.frameworks.watching import found

pytest.importorskip("keras")
pytest.importorskip("tensorflow")

SEQUENCES = """
import numpy as np
import tensorflow as tf
import keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 512)
t = np.arange(16)
x = np.stack([np.sin((1 + y[:, None]) * t * 0.4 + 6 * rng.random((512, 1))) for _ in range(3)], axis=2).astype("float32")
class Turned(keras.layers.Layer):
    def call(self, x):
        return CALL
model = keras.Sequential([keras.Input((16, 3)), Turned(), keras.layers.GRU(16), keras.layers.Dense(3)])
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""
TOKENS = """
import numpy as np
import keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 480)
x = rng.integers(1, 20, (480, 100)) + 20 * y[:, None]
x[np.arange(100) >= rng.integers(4, 9, (480, 1))] = 0
FRONT
model = keras.Sequential([keras.Input((100,)), keras.layers.Embedding(50, 16, mask_zero=MASK), keras.layers.GRU(16),
                          keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""
LOST = """
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import KERAS as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(320, 8)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
inputs = keras.Input((8,))
h = keras.layers.Dense(16, activation="relu")(inputs)
scores = keras.layers.Dense(1)(h)
weights = keras.layers.Softmax()(scores)
outputs = keras.layers.Dense(1)(weights)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(5e-3), loss=keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize(("call", "found"), [
    ("tf.reshape(tf.reshape(x, (16, -1, 3)), (-1, 16, 3))", False), ("tf.transpose(tf.reshape(x, (16, -1, 3)), (1, 0, 2))", True),
    ("x - tf.reduce_mean(x, axis=1, keepdims=True)", False)])
def test_rows(tmp_path: Path, call: str, *, found: bool) -> None:
    seen = watch(tmp_path, SEQUENCES.replace("CALL", call))
    assert seen.probes.rows is not None
    assert (next(result for result in walk(seen) if result.code == "F105").state == "found") == found


def test_the_line_that_mixes_rows(tmp_path: Path) -> None:
    text = SEQUENCES.replace("CALL", "tf.reshape(tf.transpose(x, (1, 0, 2)), (-1, 16, 3))").replace("batch_size=16", "batch_size=32")
    finding = next(result.finding for result in walk(watch(tmp_path, text)) if result.code == "F105")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source.startswith("return tf.reshape")
    assert ": Turned" in finding.message


@pytest.mark.parametrize(("mask", "front", "found"), [("False", "", True), ("True", "", False),
                                                      ("False", "x = np.array([np.roll(row, (row == 0).sum()) for row in x])", False)])
def test_padding(tmp_path: Path, mask: str, front: str, *, found: bool) -> None:
    seen = watch(tmp_path, TOKENS.replace("MASK", mask).replace("FRONT", front))
    assert (seen.probes.padding is None) == bool(front)
    assert (next(result for result in walk(seen) if result.code == "B102").state == "found") == found


@pytest.mark.parametrize(("layer", "found"), [("", True), ("keras.layers.Masking(0.0), ", False)])
def test_steps_that_are_filled_up(tmp_path: Path, layer: str, *, found: bool) -> None:
    text = TOKENS.replace("x = rng.integers(1, 20, (480, 100)) + 20 * y[:, None]",
                          "x = (rng.normal(size=(480, 100, 3)) + y[:, None, None])")
    text = text.replace("keras.Input((100,)), keras.layers.Embedding(50, 16, mask_zero=MASK), ", f"keras.Input((100, 3)), {layer}")
    seen = watch(tmp_path, text.replace("FRONT", ""))
    assert seen.probes.padding is not None
    assert (next(result for result in walk(seen) if result.code == "B102").state == "found") == found


def test_padding_is_brought_to_the_front() -> None:
    ids = np.array([[5, 6, 0, 0], [7, 0, 0, 0], [1, 2, 3, 0], [4, 0, 8, 0]])
    padded = neighbours.padding(ids)
    assert padded is not None
    assert np.take_along_axis(ids, padded.order, axis=1).tolist() == [[0, 0, 5, 6], [0, 0, 0, 7], [0, 1, 2, 3], [0, 4, 0, 8]]
    assert (padded.longest, padded.share) == (3, 0.5)
    assert neighbours.padding(np.array([[5, 6], [7, 1], [1, 2], [4, 3]])) is None
    assert neighbours.padding(np.zeros((4, 3), dtype=int)) is None


SURVEY = """
import numpy as np
import NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = (rng.normal(size=(640, 3)) * [1, 1000, 1] + [0, 5000, 40]).astype("float32")
y = (x[:, 0] > 0).astype("int64")
norm = keras.layers.Normalization()
ADAPTED
model = keras.Sequential([keras.Input((3,)), norm, keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
"""


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("adapted", "wrong"), [("", True), ("norm.adapt(x)", False)])
def test_a_layer_that_was_never_shown_the_inputs(tmp_path: Path, name: str, adapted: str, wrong: bool) -> None:
    seen = watch(tmp_path, SURVEY.replace("ADAPTED", adapted).replace("NAME", name))
    assert found(seen) == (["D108"] if wrong else [])
    assert ("unadapted" in seen.sites) is wrong
    if wrong:
        assert seen.sites["unadapted"].source == "norm = keras.layers.Normalization()"


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize(("axis", "wrong"), [("axis=None", True), ("axis=-1", False)])
def test_a_layer_that_scales_all_features_alike(tmp_path: Path, name: str, axis: str, wrong: bool) -> None:
    text = SURVEY.replace("Normalization()", f"Normalization({axis})").replace("ADAPTED", "norm.adapt(x)").replace("NAME", name)
    seen = watch(tmp_path, text)
    assert found(seen) == (["D108"] if wrong else [])
    assert ("one_scale" in seen.sites) is wrong


@pytest.mark.parametrize("keras", ["keras", "tf_keras"])
def test_the_layer_that_makes_all_rows_alike(tmp_path: Path, keras: str) -> None:
    pytest.importorskip(keras)
    text = LOST.replace("KERAS", keras)
    seen = watch(tmp_path, text)
    finding = next(result.finding for result in walk(seen) if result.code == "F104")
    assert finding is not None
    assert finding.site is not None
    assert finding.site.source == "weights = keras.layers.Softmax()(scores)"
    assert seen.probes.lost_in == "softmax"


POOLED = """
import numpy as np
import keras
from keras import layers
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 640)
x = rng.normal(size=(640, 6, 8)).astype("float32")
x[np.arange(640), rng.integers(0, 6, 640), 0] += 4 * y

class Pooled(layers.Layer):
    def __init__(self):
        super().__init__()
        self.score = layers.Dense(1)

    def call(self, rows):
        return keras.ops.sum(keras.ops.softmax(self.score(rows), axis=AXIS) * rows, axis=1)

inputs = keras.Input((6, 8))
model = keras.Model(inputs, layers.Dense(1)(Pooled()(layers.Dense(16, activation="relu")(inputs))))
model.compile(keras.optimizers.Adam(1e-2), keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y[:, None], batch_size=32, epochs=6, verbose=0)
"""


@pytest.mark.parametrize(("axis", "codes"), [("0", ["F105"]), ("1", [])])
def test_a_softmax_over_the_rows(axis: str, codes: list[str], tmp_path: Path) -> None:
    seen = watch(tmp_path, POOLED.replace("AXIS", axis))
    assert (seen.probes.rows is not None and seen.probes.rows.softmax) is bool(codes)
    assert found(seen) == codes
    finding = next(result.finding for result in walk(seen) if result.code == "F105")
    assert finding is None or (finding.site is not None and "keras.ops.softmax" in finding.site.source)


GRAPH = """
import keras
import numpy as np
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
y = rng.integers(0, 2, 160)
x = (rng.normal(size=(160, 8)) + 0.4 * y[:, None]).astype("float32")
links = ((y[:, None] == y) & (rng.random((160, 160)) < 0.1)) | np.eye(160, dtype=bool)
links = (links / links.sum(1, keepdims=True)).astype("float32")
class Convolution(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(16, activation="relu")
    def call(self, x):
        return keras.ops.matmul(links, self.dense(x))
model = keras.Sequential([keras.Input((8,)), Convolution(), keras.layers.Dense(1)])
model.compile(keras.optimizers.Adam(1e-2), keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(x, y[:, None], batch_size=160, epochs=24, verbose=0GIVEN)
"""


@pytest.mark.parametrize(("given", "codes"), [("", ["F105"]), (", shuffle=False", [])])
def test_the_nodes_of_a_graph_that_are_shuffled(given: str, codes: list[str], tmp_path: Path) -> None:
    seen = watch(tmp_path, GRAPH.replace("GIVEN", given))
    assert found(seen) == codes
    finding = next(result.finding for result in walk(seen) if result.code == "F105")
    assert finding is None or (finding.site is not None and "model.fit(" in finding.site.source and "shuffle=False" in finding.remedy)
