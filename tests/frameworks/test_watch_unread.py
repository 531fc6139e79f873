"""A learning rate that is written to an attribute no optimizer reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

TORCH = HEAD + """
for epoch in range(4):
    WRITTEN
    for xb, yb in train:
        optimizer.zero_grad()
        F.cross_entropy(model(xb), yb).backward()
        optimizer.step()
"""
KERAS = test_watch_keras.HEAD + test_watch_keras.MODEL + """
model.compile(keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
class Plan(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        WRITTEN
model.fit(x, y, batch_size=32, epochs=4, verbose=0, callbacks=[Plan()])
"""


@pytest.mark.parametrize(("written", "fault"), [
    ("optimizer.lr = 1e-3", True), ("optimizer.learning_rate = 1e-3", True), ('optimizer.param_groups[0]["lr"] = 1e-3', False),
    ('optimizer.lr = optimizer.param_groups[0]["lr"]', False), ("optimizer.note = 1e-3", False)])
def test_an_attribute_of_torch(tmp_path: Path, written: str, *, fault: bool) -> None:
    seen = watch(tmp_path, TORCH.replace("WRITTEN", written))
    assert (found(seen) == ["A701"]) is fault, (found(seen), seen.unread)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.site is not None
        assert finding.site.source == written


@pytest.mark.parametrize(("name", "written", "fault"), [
    ("keras", "self.model.optimizer.lr = 1e-3", True), ("keras", "self.model.optimizer.learning_rate = 1e-3", False),
    ("tf_keras", "self.model.optimizer.lr = 1e-3", False)])
def test_an_attribute_of_keras(tmp_path: Path, name: str, written: str, *, fault: bool) -> None:
    pytest.importorskip("tensorflow")
    pytest.importorskip(name)
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("NAME", name).replace("WRITTEN", written))
    assert (found(seen) == ["A701"]) is fault, (found(seen), seen.unread)
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "does not read `lr`" in finding.message
