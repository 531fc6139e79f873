"""Values that are learnt from later values of the same model, which should stand still, and losses that only look like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
S, A = torch.randn(640, 4), torch.randint(0, 3, (640,))
NEXT = S + 0.1 * torch.randn(640, 4)
R, DONE = S[:, 0].clone(), (torch.rand(640) < 0.1).float()
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, UNITS))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for rows in torch.randperm(640).split(32):
    q = net(S[rows])
    later = net(NEXT[rows])
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
OF_ACTION = "q.gather(1, A[rows, None]).squeeze(1)"
BEST = "R[rows] + 0.95 * (1 - DONE[rows]) * later.max(1).values"
TAPE = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
s, a = np.random.randn(640, 4).astype("float32"), np.random.randint(0, 3, 640)
after, r = s + 0.1 * np.random.randn(640, 4).astype("float32"), s[:, 0]
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(1e-3)
for sb, ab, rb, nb in tf.data.Dataset.from_tensor_slices((s, a, r, after)).batch(32):
    with tf.GradientTape() as tape:
        q = tf.gather(net(sb), ab, batch_dims=1)
        target = rb + 0.9 * tf.reduce_max(net(nb), axis=1)
        loss = tf.reduce_mean(tf.square(STILL(target) - q))
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
"""


@pytest.mark.parametrize(("units", "loss", "fault"), [
    (3, f"F.mse_loss({OF_ACTION}, {BEST})", True), (3, f"((({BEST}) - {OF_ACTION}) ** 2).mean()", True),
    (3, f"F.smooth_l1_loss({OF_ACTION}, ({BEST}).detach())", False),
    (1, "F.mse_loss(q, R[rows, None] + 0.99 * later)", True), (1, "F.mse_loss(q, R[rows, None] + 0.99 * later.detach())", False),
    (1, "F.softplus(later - q).mean()", False),  # which of two comes first: both sides count alike
    (3, "F.mse_loss(q, 0.9 * later)", False)])  # answers that are to be alike as a whole
def test_the_target_of_a_value(units: int, loss: str, tmp_path: Path, *, fault: bool) -> None:
    seen = watch(tmp_path, TORCH.replace("UNITS", str(units)).replace("LOSS", loss), steps=20)
    assert ("L217" in found(seen)) is fault, seen.bootstrap
    if fault:
        finding = next(result.finding for result in walk(seen) if result.code == "L217")
        assert finding is not None
        assert finding.site is not None
        assert finding.site.source == "later = net(NEXT[rows])"


@pytest.mark.parametrize(("still", "fault"), [("tf.identity", True), ("tf.stop_gradient", False)])
def test_the_target_of_a_value_under_a_tape(still: str, tmp_path: Path, *, fault: bool) -> None:
    pytest.importorskip("keras")
    seen = test_watch_keras.watch(tmp_path, TAPE.replace("STILL", still), steps=20)
    assert ("L217" in found(seen)) is fault, seen.bootstrap
