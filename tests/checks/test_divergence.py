"""L207 where a variational autoencoder sums its divergence beside a reconstruction that is averaged."""

from __future__ import annotations

import pytest

from harness.checks.loss_facts import DivergenceFacts, LossCall
from harness.checks.tensor_facts import Site
from tests.checks.made import finding, healthy, judge


@pytest.mark.parametrize(("weights", "value", "reconstruction", "found"), [
    ((4096.0, 4096.0, 4096.0), 0.03, 0.44, True), ((8.0, 8.0, 8.0), 0.03, 0.44, False), ((64.0, 640.0, 4096.0), 0.03, 0.44, False),
    ((4096.0, 4096.0, 4096.0), 2.0, 0.44, False), ((4096.0, 4096.0, 4096.0), 0.03, 0.2, False)])
def test_a_code_that_is_pushed_to_say_nothing(weights: tuple[float, ...], value: float, reconstruction: float, found: bool) -> None:
    seen = healthy()
    seen.divergence = [
        DivergenceFacts(step=1 + 20 * number, weight=weight, value=value if number else 4.8, constant=0.42, rows=64, numbers=64,
                        reconstruction=reconstruction if number else 0.7)
        for number, weight in enumerate(weights)]
    loss, backward = (Site(file="train.py", line=line) for line in (31, 44))
    seen.loss_calls = [LossCall(name="bce", site=loss), LossCall(name="other", site=backward)]
    if found:
        assert finding("L207", seen).site == loss
    assert (judge("L207", seen) == "found") is found
