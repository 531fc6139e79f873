"""Losses of pairs and triplets: what they pull together, and what they push apart."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness.checks.loss_facts import LossCall
from harness.checks.tensor_facts import TensorFacts
from harness.frameworks.watch import pulls
from tests.checks.made import healthy
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

DATA = """
import numpy as np
rng = np.random.default_rng(0)
KINDS = 40
middles = rng.normal(size=(KINDS, 12))
def drawn(kinds):
    return (middles[kinds] + rng.normal(size=(len(kinds), 12))).astype("float32")
def rows():
    kinds, same = rng.integers(0, KINDS, 48), rng.random(48) < 0.5
    others = (kinds + rng.integers(1, KINDS, 48)) % KINDS
    return drawn(kinds), drawn(np.where(same, kinds, others)), same.astype("float32"), drawn(kinds), drawn(others)
"""
TORCH = DATA + """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 8))
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = net
    def forward(self, one, other):
        return F.pairwise_distance(self.net(one), self.net(other))
both = Siamese()
optimizer = torch.optim.Adam(both.parameters(), lr=1e-3)
for step in range(80):
    a, b, y, p, n = map(torch.tensor, rows())
    LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
CONTRASTIVE = "d = {}; loss = (YES * d**2 + NO * F.relu(1 - d)**2).mean()"
CALLED, INSIDE = "F.pairwise_distance(net(a), net(b))", "both(a, b)"
TRIPLET = "loss = F.triplet_margin_loss(net(a), net(YES), net(NO))"
PUT_TOGETHER = ("one, near, far = net(torch.cat([a, YES, NO])).chunk(3); "
                "loss = F.relu(F.pairwise_distance(one, near) - F.pairwise_distance(one, far) + 1).mean()")
COSINES = "loss = F.cosine_embedding_loss(net(a), net(b), YES - NO)"
VIEWS = "one, other = F.normalize(net(a), dim=1), F.normalize(net(p), dim=1); loss = F.cross_entropy(one @ other.T / 0.1, torch.arange(48))"
# What belongs together differs in all but the sign of one number, and that alone differs where it does not.
HARD = ("p = torch.randn(48, 12); p[:, 0] = a[:, 0]; n = a.clone(); n[:, 0] = -a[:, 0]; "
        "loss = F.triplet_margin_loss(net(a), net(p), net(n))")
PAIRS, PARTS = ("y", "(1 - y)"), ("p", "n")


@pytest.mark.parametrize(("loss", "right"), [
    (CONTRASTIVE.format(CALLED), PAIRS), (CONTRASTIVE.format(INSIDE), PAIRS), (TRIPLET, PARTS), (PUT_TOGETHER, PARTS), (COSINES, PAIRS)])
@pytest.mark.parametrize("wrong", [True, False])
def test_torch(tmp_path: Path, loss: str, right: tuple[str, str], *, wrong: bool) -> None:
    pytest.importorskip("torch")
    first, second = right[::-1] if wrong else right
    seen = watch(tmp_path, TORCH.replace("LOSS", loss.replace("YES", first).replace("NO", second)), steps=80, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L228" in found(seen)) is wrong, seen.pulled
    if wrong:
        assert seen.pulled is not None
        assert seen.pulled.late


@pytest.mark.parametrize("loss", [VIEWS, HARD])
def test_what_is_meant(tmp_path: Path, loss: str) -> None:
    pytest.importorskip("torch")
    seen = watch(tmp_path, TORCH.replace("LOSS", loss), steps=80, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert "L228" not in found(seen), seen.pulled


KERAS = DATA + """
import keras
import tensorflow as tf
keras.utils.set_random_seed(0)
net = keras.Sequential([keras.Input((12,)), keras.layers.Dense(64, activation="relu"), keras.layers.Dense(8)])
optimizer = keras.optimizers.Adam(1e-3)
for step in range(60):
    a, b, y, p, n = rows()
    with tf.GradientTape() as tape:
        LOSS
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
"""
DISTANCES = "d = tf.norm(net(a) - net(b), axis=1); loss = tf.reduce_mean(YES * d**2 + NO * tf.nn.relu(1 - d)**2)"
SPLIT = ("one, near, far = tf.split(net(tf.concat([a, YES, NO], 0)), 3); "
         "loss = tf.reduce_mean(tf.nn.relu(tf.norm(one - near, axis=1) - tf.norm(one - far, axis=1) + 1))")


@pytest.mark.parametrize(("loss", "right"), [(DISTANCES, PAIRS), (SPLIT, PARTS)])
@pytest.mark.parametrize("wrong", [True, False])
def test_a_tape(tmp_path: Path, loss: str, right: tuple[str, str], *, wrong: bool) -> None:
    first, second = right[::-1] if wrong else right
    text = KERAS.replace("LOSS", loss.replace("YES", first).replace("NO", second))
    seen = test_watch_keras.watch(tmp_path, text, steps=60, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L228" in found(seen)) is wrong, seen.pulled


def test_likeness_to_all_rows_of_a_batch() -> None:
    """A loss over a table of all pairs pushes the nearest ones apart, too, by all others."""
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(24, 6))
    parts = [(rows, made, generator.normal(size=(24, 4))) for made in generator.normal(size=(2, 24, 4))]
    for shape, told in (((24, 24), False), ((24, 4), True)):
        seen = healthy()
        seen.loss_calls = [LossCall(name="cross_entropy", inputs=TensorFacts(shape=shape, dtype="float32"))]
        pulls.note(seen, SimpleNamespace(here=lambda: None), 1, parts)
        assert (seen.pulled is not None) is told
