"""Values that are learnt from what comes next, where episodes end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frameworks import test_watch_keras
from tests.frameworks.watching import found, watch

TORCH = """
import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
S, A = torch.randn(640, 4), torch.randint(0, 3, (640,))
NEXT, R, DONE = S + 0.1 * torch.randn(640, 4), S[:, 0].clone(), (torch.rand(640) < SHARE).float()
net, target = (nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 3)) for _ in range(2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
def sample(rows):
    return S[rows], A[rows], R[rows], NEXT[rows], DONE[rows]
def update(s, a, r, s2, done):
    with torch.no_grad():
        TARGET
    loss = F.mse_loss(net(s).gather(1, a[:, None]).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
for rows in torch.randperm(640).split(32):
    LOOP
"""
CALLED = "update(*sample(rows))"
IN_LINE = """s, a, r, s2, done = sample(rows)
    later = target(s2).max(1).values
    y = (r.unsqueeze(1) + 0.9 * later.detach().unsqueeze(1)).squeeze(1)
    loss = F.mse_loss(net(s).gather(1, a[:, None]).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()"""
FORGOT, USED = "y = r + 0.9 * target(s2).max(1).values", "y = r + 0.9 * (1 - done) * target(s2).max(1).values"


@pytest.mark.parametrize(("target", "loop", "share", "wrong"), [
    (FORGOT, CALLED, 0.1, True), (USED, CALLED, 0.1, False), (USED, IN_LINE, 0.1, True),
    (FORGOT, CALLED, 0.0, False),  # nothing ends
    ("y = r + 0.9 * target(s2).max(1).values\n        y[done > 0] = r[done > 0]", CALLED, 0.1, False),
    ("y = r", CALLED, 0.1, False)])  # nothing is added
def test_a_loop(tmp_path: Path, target: str, loop: str, share: float, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = TORCH.replace("TARGET", target).replace("LOOP", loop).replace("SHARE", str(share))
    seen = watch(tmp_path, text, steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert seen.warnings == []
    assert ("L219" in found(seen)) is wrong, seen.ending
    if wrong:
        assert seen.ending is not None
        assert seen.ending.site is not None
        assert "+ 0.9 *" in seen.ending.site.source


KERAS = """
import numpy as np, tensorflow as tf, NAME as keras
keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
s, a = rng.normal(size=(640, 4)).astype("float32"), rng.integers(0, 3, 640)
after, r, over = (s + 0.1).astype("float32"), s[:, 0], rng.random(640) < 0.1
net, target = (keras.Sequential([keras.Input((4,)), keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)]) for _ in range(2))
optimizer = keras.optimizers.Adam(1e-3)
@tf.function
def update(sb, ab, rb, nb, ended):
    with tf.GradientTape() as tape:
        q = tf.gather(net(sb), ab, batch_dims=1)
        wanted = rb + 0.9 * FACTOR * tf.reduce_max(target(nb), axis=1)
        loss = tf.reduce_mean(tf.square(tf.stop_gradient(wanted) - q))
    optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
for batch in tf.data.Dataset.from_tensor_slices((s, a, r, after, over)).batch(32):
    update(*batch)
"""


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
@pytest.mark.parametrize(("factor", "wrong"), [("1.0", True), ("(1.0 - tf.cast(ended, tf.float32))", False)])
def test_a_tape(tmp_path: Path, name: str, factor: str, *, wrong: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("FACTOR", factor).replace("NAME", name), steps=20, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("L219" in found(seen)) is wrong, (seen.ending, seen.warnings)


LIMITED = TORCH[:TORCH.index("for rows in")] + """
import collections, random
class World:
    state = torch.zeros(4)
    def step(self, action):
        self.state = self.state + 0.1 * torch.randn(4)
        fell = bool(self.state.abs().max() > 0.6)
        self.state = torch.zeros(4) if fell else self.state
        return self.state, 1.0, fell, False, {}
world, memory = World(), collections.deque(maxlen=500)
for turn in range(60):
    before = world.state
    STEP
    KEEP
    if turn > 30:
        s, a, r, s2, done = (torch.stack([torch.as_tensor(row[part]) for row in random.sample(memory, 16)]) for part in range(5))
        update(s, a, r.float(), s2, done.float())
"""


@pytest.mark.parametrize(("step", "keep", "wrong"), [
    ("after, reward, terminated, truncated, _ = world.step(1)", "memory.append((before, 1, reward, after, truncated))", True),
    ("after, reward, terminated, truncated, _ = world.step(1)", "memory.append((before, 1, reward, after, terminated))", False),
    ("after, reward, terminated, truncated, _ = world.step(1)\n    done = terminated or truncated",
     "memory.append((before, 1, reward, after, done))", False)])
def test_a_time_limit(tmp_path: Path, step: str, keep: str, *, wrong: bool) -> None:
    pytest.importorskip("torch")
    text = LIMITED.replace("SHARE", "0.1").replace("TARGET", USED).replace("STEP", step).replace("KEEP", keep)
    seen = watch(tmp_path, text, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert ("L219" in found(seen)) is wrong
    assert not wrong or seen.sites["time_limit"].source == keep
