"""A softmax of what a softmax has given, in a loss of the script's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks.watching import found, watch

SCRIPT = """
import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)
x = torch.randn(320, 6)
y = x[:, :4].argmax(1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.soft = nn.Linear(6, 4), nn.Softmax(-1)
    def forward(self, x):
        scores = self.body(x)
        return RETURNED
def own_loss(out, y):
    logs = LOGS
    return -logs.gather(1, y[:, None]).mean()
model = Net()
optimizer = torch.optim.Adam(model.parameters(), 3e-2)
for epoch in range(4):
    for rows in torch.randperm(320).split(16):
        loss = own_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(("returned", "logs", "wrong"), [
    ("F.softmax(scores, dim=-1)", "F.log_softmax(out, dim=1)", True), ("scores.softmax(1)", "out.log_softmax(-1)", True),
    ("F.softmax(scores, dim=-1)", "torch.log(torch.softmax(out, dim=1))", True),
    ("scores", "F.log_softmax(out, dim=1)", False), ("F.softmax(scores, dim=-1)", "torch.log(out + 1e-9)", False),
    ("F.log_softmax(scores, dim=-1)", "F.log_softmax(out, dim=1)", False),
    ("scores.softmax(0) * scores", "F.log_softmax(out, dim=1)", False)])
def test_torch(tmp_path: Path, returned: str, logs: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, SCRIPT.replace("RETURNED", returned).replace("LOGS", logs))
    assert ("L205" in found(seen)) is wrong, (found(seen), seen.sites.get("softmax_twice"))
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == f"return {returned}"


KERAS = """
import numpy as np
import tensorflow as tf
import NAME as keras
keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(640, 6)).astype("float32")
y = x[:, :4].argmax(1)
def own(wanted, given):
    wanted = tf.cast(tf.reshape(wanted, [-1]), tf.int32)
    return LOSS
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4, activation=ACTIVATION)])
model.compile(keras.optimizers.Adam(1e-2), loss=own)
model.fit(x, y, epochs=3, batch_size=32, verbose=0)
"""
FUSED = "tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, given)"
APART = "-tf.gather(tf.nn.log_softmax(given), wanted, axis=1, batch_dims=1)"


@pytest.mark.parametrize("name", ["tf_keras", "keras"])
@pytest.mark.parametrize(("activation", "loss", "wrong"), [
    ('"softmax"', FUSED, True), ('"softmax"', APART, True), ("None", FUSED, False), ("None", APART, False),
    ('"softmax"', "-tf.gather(tf.math.log(given + 1e-9), wanted, axis=1, batch_dims=1)", False)])
def test_keras(tmp_path: Path, name: str, activation: str, loss: str, *, wrong: bool) -> None:
    pytest.importorskip(name)
    seen = watch(tmp_path, KERAS.replace("NAME", name).replace("ACTIVATION", activation).replace("LOSS", loss))
    assert ("L205" in found(seen)) is wrong, (found(seen), seen.sites.get("softmax_twice"))
    if wrong:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source.startswith("model = keras.Sequential")
