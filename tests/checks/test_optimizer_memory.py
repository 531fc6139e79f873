"""What an optimizer keeps of earlier gradients, and what of it makes its steps diverge."""

from __future__ import annotations

import math

import pytest

from harness.checks.model_facts import OptimizerFacts
from harness.checks.observation import Observation
from tests.checks.made import finding, healthy, judge


def with_optimizer(kind: str, first: float | None, second: float | None) -> Observation:
    seen = healthy()
    seen.optimizer = OptimizerFacts(kind=kind, momentum=first, second_momentum=second)
    return seen


def test_betas_that_were_exchanged() -> None:
    found = finding("S409", with_optimizer("Adam", 0.999, 0.9))
    assert "1000 steps of gradients are divided by the size of the last 10" in found.message
    assert "the first number is the smaller one" in found.remedy


def test_momentum_that_never_forgets() -> None:
    assert "each step is the sum of all gradients so far" in finding("S409", with_optimizer("SGD", 1.0, None)).message


@pytest.mark.parametrize(("kind", "first", "second"), [
    ("Adam", 0.9, 0.999), ("AdamW", 0.9, 0.95), ("Adam", 0.5, 0.9), ("Adam", 0.0, 0.99), ("AdamW", 0.95, 0.95), ("Adam", 0.9, 0.7),
    ("SGD", 0.99, None), ("RMSprop", 0.0, None), ("Adan", 0.98, 0.92)])
def test_what_optimizers_are_given_on_purpose(kind: str, first: float, second: float | None) -> None:
    assert judge("S409", with_optimizer(kind, first, second)) != "found"


def test_without_an_optimizer() -> None:
    assert "no optimizer with momentum" in judge("S409", Observation())


@pytest.mark.long
def test_exchanged_betas_do_what_the_check_says() -> None:
    """A gradient that dies out, as one does near a minimum: steps stay within the rate with the usual betas, and go far beyond it with
    these."""
    torch = pytest.importorskip("torch")
    longest = {}
    for betas in ((0.9, 0.999), (0.999, 0.9)):
        weight = torch.nn.Parameter(torch.zeros(()))
        optimizer, steps = torch.optim.Adam([weight], lr=0.01, betas=betas), []
        for step in range(200):
            before, weight.grad = weight.item(), torch.tensor(math.exp(-step / 5))
            optimizer.step()
            steps.append(abs(weight.item() - before))
        longest[betas] = max(steps) / 0.01
    assert longest[0.9, 0.999] < 1.1
    assert longest[0.999, 0.9] > 5


@pytest.mark.parametrize(("kind", "momentum", "remade", "verdict"), [
    ("Adam", 0.9, 30, True), ("SGD", 0.9, 30, True), ("RMSprop", None, 30, True), ("SGD", None, 30, False), ("Adam", 0.9, 0, False),
    ("Adam", 0.9, 3, False)])
def test_an_optimizer_that_is_made_anew_for_every_step(kind: str, momentum: float | None, remade: int, *, verdict: bool) -> None:
    seen = with_optimizer(kind, momentum, 0.999 if kind == "Adam" else None)
    assert seen.optimizer is not None
    seen.optimizer.remade = remade
    assert (judge("S409", seen) == "found") is verdict
