"""Weights of classes under watch: what is applied to what, and where it was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.frameworks.watch import weighing
from tests.frameworks.watching import HEAD, LOOP, found, watch

ROWS = "y = (X[:, 0] + X[:, 1] > 0).long()"
FEW = "y = (X[:, 0] + X[:, 1] > 1.2).long()"
CLASSES = """
def weights_of(labels):
    counts = torch.bincount(labels).float()
    return FORMULA
balance = weights_of(y)
"""


@pytest.mark.parametrize(("formula", "fault"), [("counts / counts.sum()", True), ("counts.sum() / (2 * counts)", False)])
def test_classes_of_a_cross_entropy(tmp_path: Path, formula: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    text = HEAD.replace(ROWS, FEW) + CLASSES.replace("FORMULA", formula) + LOOP.replace("(out, yb)", "(out, yb, weight=balance)")
    seen = watch(tmp_path, text, probe_seconds=0.0)
    assert seen.weights is not None, seen.warnings
    assert seen.weights.kind == "class"
    assert sum(seen.weights.counts) == seen.weights.rows > 200
    assert ("L212" in found(seen)) is fault
    if fault:
        finding = next(result.finding for result in walk(seen) if result.code == "L212")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == "return counts / counts.sum()"


@pytest.mark.parametrize(("formula", "fault"), [("y.sum() / (1 - y).sum()", True), ("(1 - y).sum() / y.sum()", False)])
def test_positives_of_a_binary_loss(tmp_path: Path, formula: str, *, fault: bool) -> None:
    pytest.importorskip("torch")
    head = HEAD.replace(ROWS, FEW.replace("long", "float")).replace("nn.Linear(32, 2)", "nn.Linear(32, 1)")
    loop = LOOP.replace("F.cross_entropy(out, yb)", f"F.binary_cross_entropy_with_logits(out.squeeze(1), yb, pos_weight={formula})")
    seen = watch(tmp_path, head + loop, probe_seconds=0.0)
    assert seen.weights is not None, seen.warnings
    assert seen.weights.kind == "positive"
    assert ("L212" in found(seen)) is fault


@pytest.mark.parametrize(("formula", "fault"), [("n / len(y)", True), ("len(y) / n", False)])
def test_classes_that_fit_is_given(tmp_path: Path, formula: str, *, fault: bool) -> None:
    pytest.importorskip("keras")
    text = """
import keras
import numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(640, 8)).astype("float32")
y = (x[:, 0] > 1).astype("int32")
model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(2)])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
balance = {c: FORMULA for c, n in enumerate(np.bincount(y))}
model.fit(x, y, class_weight=balance, epochs=2, verbose=0)
"""
    seen = watch(tmp_path, text.replace("FORMULA", formula), probe_seconds=0.0)
    assert seen.weights is not None, seen.warnings
    assert ("L212" in found(seen)) is fault
    place = weighing.made(tmp_path / "train.py")
    assert place is not None
    assert place[1] == 9


FOCAL = """
ce = F.cross_entropy(out, yb, reduction="none")
        alpha = torch.where(yb == RARE, 0.85, 0.15)
        loss = (alpha * (1 - torch.exp(-ce)) * ce).mean()"""


@pytest.mark.parametrize(("rare", "few", "fault"), [("0", True, True), ("1", True, False), ("0", False, False)])
def test_a_loss_that_weighs_by_itself(tmp_path: Path, rare: str, few: bool, *, fault: bool) -> None:
    pytest.importorskip("torch")
    loop = LOOP.replace("loss = F.cross_entropy(out, yb)", FOCAL.strip().replace("RARE", rare))
    seen = watch(tmp_path, (HEAD.replace(ROWS, FEW) if few else HEAD).replace("batch_size=16", "batch_size=40") + loop, probe_seconds=1)
    assert seen.exception is None, seen.exception
    assert seen.weights is not None, seen.warnings
    assert seen.weights.measured
    assert (seen.weights.weights[0] > seen.weights.weights[1]) == (rare == "0")
    assert ("L212" in found(seen)) is fault, seen.weights


def test_weights_that_an_object_keeps(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("counts = table.value_counts()\nbalance = len(table) / counts\n"
                      "class Mine(Trainer):\n    def __init__(self, balanced=None):\n        self.balanced = balanced\n"
                      "    def compute_loss(self, model, inputs):\n        return cross_entropy(model(inputs), y, weight=self.balanced)\n"
                      "trainer = Mine(balanced=balance)\n")
    place = weighing.made(script)
    assert place is not None
    assert place[1] == 2
