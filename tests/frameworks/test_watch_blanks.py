"""CTC losses whose blank stands among the targets."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import torch
import torch.nn as nn
torch.manual_seed(0)
X = torch.randn(240, 10, 6)
Y = torch.randint(0, 4, (240, 3)) + FIRST
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 5))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
ctc = nn.CTCLoss(BLANK)
lengths, said = torch.full((16,), 10), torch.full((16,), 3)
for start in range(0, 240, 16):
    out = net(X[start:start + 16]).log_softmax(2).transpose(0, 1)
    target = Y[start:start + 16]
    loss = ctc(out, TARGET, lengths, said)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TAPE = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
x = np.random.randn(160, 10, 6).astype("float32")
y = np.random.randint(0, 4, (160, 3)) + FIRST
net = keras.Sequential([keras.Input((10, 6)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(5)])
optimizer = keras.optimizers.Adam(1e-3)
for xb, yb in tf.data.Dataset.from_tensor_slices((x, y)).batch(16):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.ctc_loss(yb, net(xb), tf.fill([16], 3), tf.fill([16], 10), logits_time_major=False, blank_index=INDEX))
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
"""


@pytest.mark.parametrize("target", ["target", "target.flatten()"], ids=["rows", "one after the other"])
@pytest.mark.parametrize(("first", "blank", "fault"), [("0", "", True), ("1", "", False), ("0", "blank=4", False)])
def test_the_blank_of_a_loss(first: str, blank: str, target: str, tmp_path: Path, *, fault: bool) -> None:
    seen = watch(tmp_path, TORCH.replace("FIRST", first).replace("BLANK", blank).replace("TARGET", target))
    assert ("L201" in found(seen)) is fault, seen.blanks
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert "`blank=4`" in finding.remedy
        assert finding.site is not None
        assert finding.site.source.startswith("ctc = nn.CTCLoss")


@pytest.mark.parametrize(("scores", "fault"), [
    (".log_softmax(2)", False), ("", True), (".softmax(2)", True), (".softmax(2).clamp(min=1e-8).log()", False)])
def test_what_a_loss_is_given(tmp_path: Path, scores: str, *, fault: bool) -> None:
    text = TORCH.replace("FIRST", "1").replace("BLANK", "").replace("TARGET", "target").replace(".log_softmax(2)", scores)
    assert ("L206" in found(watch(tmp_path, text))) is fault


@pytest.mark.parametrize(("first", "index", "fault"), [("0", "0", True), ("0", "None", True), ("1", "0", False), ("0", "-1", False)])
def test_the_blank_of_tensorflow(first: str, index: str, tmp_path: Path, *, fault: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, TAPE.replace("FIRST", first).replace("INDEX", index))
    assert ("L201" in found(seen)) is fault, seen.blanks


def test_a_blank_that_has_a_name(tmp_path: Path) -> None:
    text = TORCH.replace("FIRST", "0").replace("BLANK", "blank=NOTHING").replace("TARGET", "target").replace(
        "torch.manual_seed(0)", "torch.manual_seed(0)\nNOTHING = 0", 1)
    seen = watch(tmp_path, text)
    finding = next(result.finding for result in walk(seen) if result.finding)
    assert finding.site is not None
    assert finding.site.source == "NOTHING = 0"
