"""What holds a model back: found where the steps learn without it and not with it, and left alone where they learn or may be slow."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from harness.checks.observation import Observation
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
x = rng.normal(size=(800, 16)).astype("float32")
y = ((x[:, 0] > 0) * 2 + (x[:, 1] > 0)).astype("int64")
"""
TORCH = DATA + """
import torch
import torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(DROPPED), nn.Linear(64, 4))
loss_of = nn.CrossEntropyLoss()
optimizer = torch.optim.OPTIMIZER
inputs, targets = torch.tensor(x), torch.tensor(y)
for epoch in range(EPOCHS):
    for rows in torch.randperm(800).split(32):
        loss = loss_of(model(inputs[rows]), targets[rows])
        PENALTY
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
model.eval()
with torch.no_grad():
    right = (model(inputs).argmax(1) == targets).float().mean()
"""
KERAS = DATA + """
import tensorflow as tf
import NAME as keras
from NAME import layers
keras.utils.set_random_seed(0)
class RandomShift(layers.Layer):
    def __init__(self, far):
        super().__init__()
        self.far = far
    def call(self, given, training=False):
        return given + self.far * tf.random.normal(tf.shape(given)) if training else given
model = keras.Sequential([keras.Input((16,)), BEFORElayers.Dense(64, activation="relu"KERNEL), layers.Dropout(DROPPED), layers.Dense(4)])
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = keras.optimizers.OPTIMIZER
"""
FIT = """
model.compile(optimizer=optimizer, loss=loss_of)
model.fit(x, y, batch_size=32, epochs=5, verbose=0)
"""
LOOP = """
@tf.function
def step(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
for epoch in range(5):
    for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).shuffle(800).batch(32):
        step(xb, yb)
"""


def torch_text(dropped: str = "0.1", optimizer: str = "Adam(model.parameters(), 1e-2)", penalty: str = "pass", epochs: int = 4) -> str:
    return (TORCH.replace("DROPPED", dropped).replace("OPTIMIZER", optimizer).replace("PENALTY", penalty)
            .replace("EPOCHS", str(epochs)))


def keras_text(name: str, train: str, dropped: str = "0.1", optimizer: str = "Adam(1e-2)", before: str = "", kernel: str = "") -> str:
    return (KERAS + train).replace("NAME", name).replace("DROPPED", dropped).replace("OPTIMIZER", optimizer).replace(
        "BEFORE", before).replace("KERNEL", kernel)


def line(seen: Observation) -> str:
    site = next(result.finding.site for result in walk(seen) if result.finding)
    assert site is not None
    return site.source


@pytest.mark.parametrize(("changed", "kind", "source"), [
    ({"dropped": "0.995"}, "dropout", "model = nn.Sequential"),
    ({"optimizer": "AdamW(model.parameters(), 1e-2, weight_decay=40.0)"}, "decay", "optimizer = "),
    ({"optimizer": "SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=0.4)"}, "decay", "optimizer = "),
    ({"penalty": "loss = loss + 0.2 * sum(weight.abs().sum() for weight in model.parameters())"}, "penalty", "loss = loss + ")])
def test_torch(tmp_path: Path, changed: dict[str, str], kind: str, source: str) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, torch_text(**changed), steps=60, probe_seconds=6, seconds=90)
    assert found(seen) == ["S406"], (found(seen), seen.probes.restraints)
    assert seen.probes.restraints[0].kind == kind
    assert line(seen).startswith(source)


@pytest.mark.parametrize("changed", [
    {"dropped": "0.5"}, {"optimizer": "AdamW(model.parameters(), 1e-2, weight_decay=0.1)"},
    {"optimizer": "SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=5e-4)"},
    # Most of the loss at first, and the rows are learnt all the same.
    {"penalty": "loss = loss + 2.0 + 1e-4 * sum(weight.abs().sum() for weight in model.parameters())"}])
def test_torch_that_learns(tmp_path: Path, changed: dict[str, str]) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, torch_text(**changed), steps=60, probe_seconds=6, seconds=90)
    assert found(seen) == [], found(seen)


def test_a_training_that_is_slow_anyway(tmp_path: Path) -> None:
    """Neither with nor without its dropout do so few steps learn."""
    pytest.importorskip("torch")
    seen = watch(tmp_path, torch_text(dropped="0.5", optimizer="SGD(model.parameters(), 2e-3)"), steps=60, probe_seconds=6, seconds=90)
    assert "S406" not in found(seen)
    assert seen.probes.restraints == []


def test_labels_that_say_nothing_are_another_fault(tmp_path: Path) -> None:
    """Without its dropout the model learns the rows by heart, and no simpler judge finds anything in them."""
    pytest.importorskip("torch")
    text = torch_text(dropped="0.9", epochs=8).replace("y = ((x", "y = rng.integers(0, 4, 800)\nz = ((x")
    seen = watch(tmp_path, text, steps=150, probe_seconds=10, seconds=90)
    assert "S406" not in found(seen), seen.probes.restraints


@pytest.mark.parametrize("train", [FIT, LOOP], ids=["fit", "loop"])
@pytest.mark.parametrize("name", ["tf_keras", "keras"])
@pytest.mark.parametrize(("changed", "kind", "source"), [
    ({"dropped": "0.995"}, "dropout", "model = keras.Sequential"),
    ({"optimizer": "AdamW(1e-2, weight_decay=40.0)"}, "decay", "optimizer = ")])
def test_keras(tmp_path: Path, name: str, train: str, changed: dict[str, str], kind: str, source: str) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, keras_text(name, train, **changed), steps=60, probe_seconds=6, seconds=90)
    assert found(seen) == ["S406"], (found(seen), seen.probes.restraints, seen.probes.skipped)
    assert seen.probes.restraints[0].kind == kind
    assert line(seen).startswith(source)


@pytest.mark.parametrize("name", ["tf_keras", "keras"])
@pytest.mark.parametrize(("changed", "kind"), [
    ({"kernel": ", kernel_regularizer=keras.regularizers.L1(1.0)"}, "penalty"),
    ({"before": "RandomShift(40.0), "}, "augmentation")])
def test_fit_of_keras(tmp_path: Path, name: str, changed: dict[str, str], kind: str) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, keras_text(name, FIT, **changed), steps=60, probe_seconds=6, seconds=90)
    assert found(seen) == ["S406"], (found(seen), seen.probes.restraints, seen.probes.skipped)
    assert seen.probes.restraints[0].kind == kind
    assert line(seen).startswith("model = keras.Sequential")


@pytest.mark.parametrize("name", ["tf_keras", "keras"])
@pytest.mark.parametrize("changed", [
    {"dropped": "0.5"}, {"optimizer": "AdamW(1e-2, weight_decay=0.1)"}, {"kernel": ", kernel_regularizer=keras.regularizers.L2(1e-3)"},
    {"before": "RandomShift(0.3), "}])
def test_keras_that_learns(tmp_path: Path, name: str, changed: dict[str, str]) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, keras_text(name, FIT, **changed), steps=60, probe_seconds=6, seconds=90)
    assert found(seen) == [], found(seen)


GLOW = """
import torch
import torch.nn as nn
torch.manual_seed(0)
y = torch.randint(0, 3, (600,))
x = 0.5 * y.view(-1, 1, 1, 1) + 0.1 * torch.randn(600, 1, 8, 8)
model = nn.Sequential(nn.Conv2d(1, 8, 3, bias=False), NORM, nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=ROWS, shuffle=True)
for epoch in range(2):
    for number, (xb, yb) in enumerate(loader, 1):
        loss = nn.functional.cross_entropy(model(xb), yb) / PARTS
        loss.backward()
        if number % PARTS == 0:
            optimizer.step()
            optimizer.zero_grad()
"""


@pytest.mark.parametrize(("rows", "parts", "norm", "fault"), [
    (1, 8, "nn.BatchNorm2d(8)", True), (8, 1, "nn.BatchNorm2d(8)", False), (1, 8, "nn.Identity()", False)])
def test_a_norm_of_one_row(tmp_path: Path, rows: int, parts: int, norm: str, *, fault: bool) -> None:
    """What tells the rows apart is their level, which goes with the mean of each."""
    text = GLOW.replace("ROWS", str(rows)).replace("PARTS", str(parts)).replace("NORM", norm)
    seen = watch(tmp_path, text, steps=60, seconds=60, probe_seconds=40)
    said = {result.code: result.finding for result in walk(seen) if result.state == "found"}
    assert ("S406" in said) is fault, said
    if fault:
        assert said["S406"] is not None
        assert "one row at a time" in said["S406"].message
