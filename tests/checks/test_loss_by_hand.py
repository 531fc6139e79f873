"""Loops of a script's own layers: what their first losses say."""

from __future__ import annotations

import pytest

from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.tensor_facts import TensorFacts
from tests.checks.made import finding, judge, steps


def summed(*losses: float) -> Observation:
    """Three layers that add up hundreds of neighbours each, and no model that is known."""
    seen = Observation(framework="keras", stopped="finished")
    seen.steps = steps(list(losses))
    output = TensorFacts(shape=(140, 5), dtype="float32", minimum=-5387.0, maximum=437092.0)
    seen.loss_calls = [LossCall(name="sparse_categorical", inputs=output, value=losses[0], from_logits=True)]
    return seen


def test_outputs_that_grow_with_each_layer() -> None:
    found = finding("L204", summed(31325.0, *[60.0] * 30))
    assert "outputs go from -5.39e+03 to 4.37e+05" in found.message
    assert "D^-1/2 (A + I) D^-1/2" in found.remedy


@pytest.mark.parametrize("losses", [(31325.0, *[1.2] * 30), (5.0, *[3.0] * 30), (31325.0, 60.0)])
def test_what_is_unlearnt_or_not_far_or_not_watched_for_long(losses: tuple[float, ...]) -> None:
    assert judge("L204", summed(*losses)) != "found"
