"""Gradients that are zeroed before anybody steps: lost by a step that stands outside of the loop, and by nothing that is meant so."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
from tests.frameworks import test_watch_keras
from tests.frameworks.watching import HEAD, found, watch

LOOP = """
for epoch in range(10):
    for xb, yb in train:
        BEGIN
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        WITHIN
    BEHIND
    with torch.no_grad():
        right = (model(X).argmax(1) == y).float().mean().item()
"""
ATTACK = ("xb = xb.requires_grad_(); F.cross_entropy(model(xb), yb).backward(); "
          "xb = (xb + 0.01 * xb.grad.sign()).detach(); optimizer.zero_grad()")


def text(begin: str, within: str, behind: str) -> str:
    return HEAD + LOOP.replace("BEGIN", begin).replace("WITHIN", within).replace("BEHIND", behind)


def test_a_step_behind_the_loop(tmp_path: Path) -> None:
    seen = watch(tmp_path, text("optimizer.zero_grad()", "pass", "optimizer.step()"))
    assert found(seen)[0] == "S404"
    assert seen.thrown is not None
    assert seen.thrown.backwards[0] == seen.thrown.thrown[0] + 1 == 20
    assert seen.thrown.site is not None
    assert seen.thrown.site.source == "optimizer.step()"


def test_gradients_that_are_to_add_up(tmp_path: Path) -> None:
    """The step is where it should be, and what is in the wrong place is the zeroing."""
    loop = LOOP.replace("for xb, yb in train", "for number, (xb, yb) in enumerate(train)").replace("BEGIN", "optimizer.zero_grad()")
    seen = watch(tmp_path, HEAD + loop.replace("WITHIN", "optimizer.step() if number % 4 == 3 else None").replace("BEHIND", "pass"))
    told = next(result.finding for result in walk(seen) if result.code == "S404")
    assert told is not None
    assert told.site is not None
    assert told.site.source == "optimizer.zero_grad()"
    assert "under the same condition" in told.remedy


SURGERY = "kept = [p.grad + old for p, old in zip(model.parameters(), kept)]"


def test_gradients_that_are_put_back(tmp_path: Path) -> None:
    again = "[setattr(p, 'grad', old) for p, old in zip(model.parameters(), kept)]; optimizer.step()"
    head = HEAD + "kept = [torch.zeros_like(p) for p in model.parameters()]\n"
    seen = watch(tmp_path, head + text("optimizer.zero_grad()", SURGERY, again).removeprefix(HEAD))
    assert seen.thrown is None


@pytest.mark.parametrize(("begin", "within", "behind"), [
    ("optimizer.zero_grad()", "optimizer.step()", "pass"),
    ("pass", "pass", "optimizer.step(); optimizer.zero_grad()"),  # all batches of an epoch added up
    (ATTACK, "optimizer.step(); optimizer.zero_grad()", "pass"),
])
def test_what_is_meant_so(tmp_path: Path, begin: str, within: str, behind: str) -> None:
    seen = watch(tmp_path, text(begin, within, behind))
    assert seen.thrown is None
    assert "S404" not in found(seen)


KERAS = """
import keras, numpy as np, tensorflow as tf
keras.utils.set_random_seed(0)
x = np.random.randn(640, 10).astype("float32")
y = (x[:, :1] + x[:, 1:2] > 0).astype("float32")
data = iter(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(640).repeat().batch(16))
model = keras.Sequential([keras.Input((10,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
optimizer, loss_of = keras.optimizers.Adam(1e-2), keras.losses.BinaryCrossentropy(from_logits=True)
def gradients_of(xb, yb):
    with tf.GradientTape() as tape:
        loss = loss_of(yb, model(xb, training=True))
    return tape.gradient(loss, model.trainable_variables)
WRAPPED
def step(batches):
    STEP
for _ in range(12):
    step([next(data) for _ in range(4)])
"""
BEGUN = "sums = [tf.zeros_like(v) for v in model.trainable_variables]"
ADDED = "sums = [a + g / 4 for a, g in zip(sums, gradients_of(xb, yb))]"
APPLIED = "optimizer.apply_gradients(zip(sums, model.trainable_variables))"
SHARPNESS = """xb, yb = batches[0]
    first = gradients_of(xb, yb)
    for v, g in zip(model.trainable_variables, first):
        v.assign_add(0.05 * g)
    sums = gradients_of(xb, yb)
    for v, g in zip(model.trainable_variables, first):
        v.assign_sub(0.05 * g)
    """


@pytest.mark.parametrize("wrapped", ["@tf.function", ""])
@pytest.mark.parametrize(("step", "fault"), [
    (f"for xb, yb in batches:\n        {BEGUN}\n        {ADDED}\n    {APPLIED}", True),
    (f"{BEGUN}\n    for xb, yb in batches:\n        {ADDED}\n    {APPLIED}", False),
    (f"for xb, yb in batches:\n        sums = gradients_of(xb, yb)\n        {APPLIED}", False), (SHARPNESS + APPLIED, False),
    (f"for xb, yb in batches:\n        sums = gradients_of(xb, yb)\n        {APPLIED.replace('zip(', 'grads_and_vars=zip(')}", False)])
def test_sums_that_are_begun_anew(tmp_path: Path, wrapped: str, step: str, *, fault: bool) -> None:
    seen = test_watch_keras.watch(tmp_path, KERAS.replace("WRAPPED", wrapped).replace("STEP", step), steps=12, probe_seconds=0.5)
    assert seen.exception is None, seen.exception
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("S404" in found(seen)) is fault, seen.thrown
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "S404")
        assert told is not None
        assert "the gradients of the last one alone" in told.message


OWN = """
def rows():
    for start in range(0, len(X), 16):
        yield X[start:start + 16], y[start:start + 16]
for epoch in range(10):
    for number, (xb, yb) in enumerate(rows()):
        BEGIN
        F.cross_entropy(model(xb), yb).backward()
        if number % 4 == 3:
            optimizer.step()
            END
"""


@pytest.mark.parametrize(("begin", "end", "fault"), [
    ("optimizer.zero_grad()", "pass", True), ("pass", "optimizer.zero_grad()", False),
    (ATTACK + "; number = 3", "optimizer.zero_grad()", False)], ids=["thrown", "added up", "attack"])
def test_rows_of_no_loader(tmp_path: Path, begin: str, end: str, *, fault: bool) -> None:
    seen = watch(tmp_path, HEAD + OWN.replace("BEGIN", begin).replace("END", end))
    assert not any("watching failed" in warning for warning in seen.warnings), seen.warnings
    assert ("S404" in found(seen)) is fault, seen.thrown
    if fault:
        told = next(result.finding for result in walk(seen) if result.code == "S404")
        assert told is not None
        assert told.site is not None
        assert told.site.source == "optimizer.zero_grad()"
