"""Numbers that are there to be learnt and that no optimizer was given."""

from __future__ import annotations

import pytest

from harness.checks.model_facts import OptimizerFacts, ParameterFacts
from harness.checks.observation import Observation
from tests.checks.made import finding, healthy, judge, steps


def lone(name: str = "log_scale", size: int = 1) -> Observation:
    seen = healthy()
    assert seen.model is not None
    seen.optimizer = OptimizerFacts(held=2)
    seen.model.parameters = [
        ParameterFacts(name=name, size=size, trainable=True, in_optimizer=False, gradient_norm=0.05, moved=False),
        *[ParameterFacts(name=f"tower.{part}", size=64, trainable=True, in_optimizer=True, gradient_norm=0.2, moved=True)
          for part in ("weight", "bias")]]
    return seen


def test_a_temperature_beside_parts_that_are_trained() -> None:
    found = finding("S405", lone())
    assert "`log_scale` is to be learnt and in no optimizer" in found.message
    assert "register_buffer" in found.remedy


@pytest.mark.parametrize("change", ["moves", "no gradient", "frozen", "a matrix", "a part of its own", "few steps"])
def test_what_may_be_left_out(change: str) -> None:
    seen = lone("act.slope" if change == "a part of its own" else "log_scale", 64 if change == "a matrix" else 1)
    assert seen.model is not None
    number = seen.model.parameters[0]
    if change == "moves":
        number.moved = True
    elif change == "no gradient":
        number.gradient_norm = 0.0
    elif change == "frozen":
        number.trainable = False
    elif change == "few steps":
        seen.steps = steps([1.0] * 5)
    assert judge("S405", seen) != "found"
