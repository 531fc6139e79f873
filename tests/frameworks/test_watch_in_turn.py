"""One optimizer that steps for two losses in turn, of which one undoes what the other does to a part of its weights."""

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
real = torch.randn(640, 2) * 0.3 + 2
g = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
d = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
OPTIMIZERS
for rows in torch.randperm(640).repeat(3).split(32):
    d_opt.zero_grad()
    fake = g(torch.randn(32, 4)).detach()
    d_loss = F.softplus(-d(real[rows])).mean() + F.softplus(d(fake)).mean()
    d_loss.backward()
    d_opt.step()
    g_opt.zero_grad()
    g_loss = F.softplus(-d(g(torch.randn(32, 4)))).mean()
    g_loss.backward()
    g_opt.step()
"""
ONE = "d_opt = g_opt = torch.optim.Adam([*g.parameters(), *d.parameters()], lr=1e-3)"
EACH = "d_opt, g_opt = torch.optim.Adam(d.parameters(), lr=1e-3), torch.optim.Adam(g.parameters(), lr=1e-3)"
TASKS = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
X = torch.randn(640, 6)
trunk, one, two = nn.Sequential(nn.Linear(6, 32), nn.ReLU()), nn.Linear(32, 1), nn.Linear(32, 1)
optimizer = torch.optim.Adam([*trunk.parameters(), *one.parameters(), *two.parameters()], lr=1e-3)
for rows in torch.randperm(640).repeat(3).split(32):
    optimizer.zero_grad()
    F.mse_loss(one(trunk(X[rows])), X[rows, :1]).backward()
    optimizer.step()
    optimizer.zero_grad()
    F.mse_loss(two(trunk(X[rows])), -X[rows, :1]).backward()
    optimizer.step()
"""
TAPE = """
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
real = (np.random.randn(640, 2) * 0.3 + 1).astype("float32")
g = keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
d = keras.Sequential([keras.Input((2,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
both = g.trainable_variables + d.trainable_variables
one, other = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
for rows in tf.data.Dataset.from_tensor_slices(real).repeat(2).batch(32):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softplus(-d(rows)) + tf.nn.softplus(d(tf.stop_gradient(g(tf.random.normal((32, 4)))))))
    one.apply_gradients(zip(tape.gradient(loss, D_WEIGHTS), D_WEIGHTS))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softplus(-d(g(tf.random.normal((32, 4))))))
    SECOND.apply_gradients(zip(tape.gradient(loss, G_WEIGHTS), G_WEIGHTS))
"""


@pytest.mark.parametrize(("text", "fault"), [
    (TORCH.replace("OPTIMIZERS", ONE), True), (TORCH.replace("OPTIMIZERS", EACH), False), (TASKS, False)],
    ids=["one", "each its own", "two tasks"])
def test_one_optimizer_for_two_losses(text: str, tmp_path: Path, *, fault: bool) -> None:
    seen = watch(tmp_path, text, steps=60)
    assert ("S405" in found(seen)) is fault, seen.opposed
    if fault:
        finding = next(result.finding for result in walk(seen) if result.finding)
        assert finding.message.startswith("One optimizer steps for two losses")
        assert finding.site is not None
        assert finding.site.source == "g_opt.step()"


@pytest.mark.parametrize(("names", "fault"), [
    (("both", "both", "one"), True), (("d.trainable_variables", "g.trainable_variables", "other"), False)], ids=["one", "each its own"])
def test_one_optimizer_under_tapes(names: tuple[str, str, str], tmp_path: Path, *, fault: bool) -> None:
    pytest.importorskip("keras")
    text = TAPE.replace("D_WEIGHTS", names[0]).replace("G_WEIGHTS", names[1]).replace("SECOND", names[2])
    seen = test_watch_keras.watch(tmp_path, text, steps=60)
    assert ("S405" in found(seen)) is fault, seen.opposed
