"""Gradients that are zeroed before anybody steps: lost by a step that stands outside of the loop, and by nothing that is meant so."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.checks.base import walk
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
