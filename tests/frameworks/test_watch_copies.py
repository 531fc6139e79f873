"""Copies of a model that answer beside it: target networks that follow it or do not, and copies that are to stay what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import FAILED, Finding, walk
from harness.checks.observation import Observation
from tests.frameworks import test_watch_keras as small
from tests.frameworks.watching import watch

TORCH = """
import copy, torch
from torch import nn
torch.manual_seed(0)
S, S2 = torch.randn(600, 4), torch.randn(600, 4)
A, R = torch.randint(0, 2, (600,)), torch.rand(600)
SYNC_EVERY = 20
def net():
    return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
class Learner:
    def __init__(self):
        self.online, self.target = net(), net()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=1e-3)
    def update(self, s, a, r, s2):
        with torch.no_grad():
            wanted = r + 0.9 * self.target(NEXT).max(1).values
        loss = nn.functional.smooth_l1_loss(self.online(s).gather(1, a[:, None])[:, 0], wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
learner = Learner()
for step in range(1, 101):
    at = torch.randint(0, 600, (32,))
    learner.update(S[at], A[at], R[at], S2[at])
    SYNC
"""
HARD = "if step % SYNC_EVERY == 0:\n        learner.target.load_state_dict(learner.online.state_dict())"
SOFT = """for mine, its in zip(learner.target.parameters(), learner.online.parameters()):
        mine.data.mul_(0.99).add_(its.data, alpha=0.01)"""
WAYS = {"never": ("pass", "s2", 20, True), "late": (HARD, "s2", 500, True), "now and then": (HARD, "s2", 20, False),
        "soft": (SOFT, "s2", 20, False), "held on to": ("pass", "s", 20, False)}


def found(seen: Observation) -> Finding | None:
    results = walk(seen)
    assert not [result for result in results if (result.reason or "").startswith(FAILED)]
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    return next((result.finding for result in results if result.code == "S408"), None)


@pytest.mark.parametrize("way", WAYS)
def test_target_networks(tmp_path: Path, way: str) -> None:
    sync, rows, every, fault = WAYS[way]
    text = (
        TORCH.replace("NEXT", rows).replace("    SYNC\n", f"    {sync}\n").replace("SYNC_EVERY = 20", f"SYNC_EVERY = {every}"))
    finding = found(watch(tmp_path, text, steps=60))
    assert (finding is not None) is fault
    if finding is not None and finding.site is not None:
        assert finding.site.source == ("if step % SYNC_EVERY == 0:" if way == "late" else
                                       "self.optimizer.step()")


def test_a_script_that_may_still_come_to_it_gets_no_verdict(tmp_path: Path) -> None:
    sync = "    if loss_rises(step):\n        learner.target.load_state_dict(learner.online.state_dict())\n"
    text = TORCH.replace("NEXT", "s2").replace("    SYNC\n", sync)
    text = text.replace("learner = Learner()", "loss_rises = lambda step: step > 99000\nlearner = Learner()")
    text = text.replace("range(1, 101)", "range(1, 100001)")
    seen = watch(tmp_path, text, steps=60)
    assert seen.behind is not None
    assert found(seen) is None


TAPE = """
import numpy as np, tensorflow as tf, keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
S, S2 = rng.normal(size=(2, 600, 4)).astype("float32")
A, R = rng.integers(0, 2, 600), rng.random(600).astype("float32")
def net():
    return keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(2)])
online, target = net(), net()
target.set_weights(online.get_weights())
optimizer = keras.optimizers.Adam(1e-3)
@tf.function
def update(s, a, r, s2):
    wanted = r + 0.9 * tf.reduce_max(target(s2), 1)
    with tf.GradientTape() as tape:
        q = tf.reduce_sum(online(s) * tf.one_hot(a, 2), 1)
        loss = tf.reduce_mean((q - tf.stop_gradient(wanted)) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
for step in range(1, 101):
    at = rng.integers(0, 600, 32)
    update(S[at], A[at], R[at], S2[at])
    if step % EVERY == 0:
        target.set_weights(online.get_weights())
"""


@pytest.mark.parametrize("every", [10, 1000])
def test_tapes(tmp_path: Path, every: int) -> None:
    pytest.importorskip("tensorflow")
    finding = found(small.watch(tmp_path, TAPE.replace("EVERY", str(every)), steps=60))
    assert (finding is not None) == (every == 1000)
    if finding is not None:
        assert finding.site is not None
        assert finding.site.source == "if step % 1000 == 0:"
