"""Steps of an agent that come as one thing, of which the end is a part."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import dataclasses
import typing
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
class Named(typing.NamedTuple):
    state: torch.Tensor
    reward: torch.Tensor
    later: torch.Tensor
    done: torch.Tensor
@dataclasses.dataclass
class Data:
    state: torch.Tensor
    reward: torch.Tensor
    later: torch.Tensor
    done: torch.Tensor
def sample():
    state = torch.randn(32, 4)
    return KIND(state=state, reward=state[:, 0], later=state + 0.1 * torch.randn(32, 4), done=(torch.rand(32) < SHARE).float())
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
def checked(step):
    return step
def update(step):
    with torch.no_grad():
        TARGET
    loss = F.mse_loss(net(PART(state)).max(1).values, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for _ in range(12):
    update(sample())
"""
FORGOT = "y = PART(reward) + 0.9 * net(PART(later)).max(1).values"
USED = "y = PART(reward) + 0.9 * (1 - PART(done)) * net(PART(later)).max(1).values"


def parts(text: str, form: str) -> str:
    for name in ("state", "reward", "later", "done"):
        text = text.replace(f"PART({name})", form.format(name))
    return text


@pytest.mark.parametrize(("kind", "form"), [("Named", "step.{}"), ("Data", "step.{}"), ("dict", 'step["{}"]')])
@pytest.mark.parametrize(("target", "share", "wrong"), [(FORGOT, 0.2, True), (USED, 0.2, False), (FORGOT, 0.0, False)])
def test_torch(tmp_path: Path, kind: str, form: str, target: str, share: float, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = parts(TORCH.replace("TARGET", target).replace("KIND", kind).replace("SHARE", str(share)), form)
    seen = watch(tmp_path, text, steps=12, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L219" in found(seen)) is wrong, seen.ending
    if wrong:
        assert seen.ending is not None
        assert seen.ending.site is not None
        assert "+ 0.9 *" in seen.ending.site.source


def test_one_that_is_handed_on(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    text = parts(TORCH.replace("TARGET", "checked(step); " + FORGOT).replace("KIND", "Named").replace("SHARE", "0.2"), "step.{}")
    assert "L219" not in found(watch(tmp_path, text, steps=12, probe_seconds=0.5))


KERAS = """
import collections
import keras
import numpy as np
import tensorflow as tf
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
Step = collections.namedtuple("Step", "state reward later done")
net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(1e-3)
@tf.function
def update(step):
    TARGET
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.reduce_max(net(PART(state)), 1) - y) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
for _ in range(12):
    state = rng.normal(size=(32, 4)).astype("float32")
    update(Step(*map(tf.constant, (state, state[:, 0], state + 0.1, (rng.random(32) < 0.2).astype("float32")))))
"""


@pytest.mark.parametrize(("factor", "wrong"), [("", True), ("(1 - PART(done)) * ", False)])
def test_a_tape(tmp_path: Path, factor: str, *, wrong: bool) -> None:
    target = f"y = PART(reward) + 0.9 * {factor}tf.reduce_max(net(PART(later)), 1)"
    seen = test_watch_keras.watch(tmp_path, parts(KERAS.replace("TARGET", target), "step.{}"), steps=12, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings)
    assert ("L219" in found(seen)) is wrong, seen.ending
