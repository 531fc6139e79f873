"""Targets that steps of a usual size never come near to."""

from __future__ import annotations

import pytest

from harness.checks import out_of_reach
from harness.checks.loss_facts import LossCall
from harness.checks.observation import Observation
from harness.checks.probe_facts import CurveFacts
from harness.checks.tensor_facts import TensorFacts
from tests.checks.made import SITE, curve, healthy


def prices(end: float = 7.685e10, rate: float = 100.0) -> Observation:
    """A probe at `rate` times the script's own learns one batch; those at 1 and 10 times do not."""
    seen = healthy()
    seen.task = "regression"
    seen.sites["fit"] = SITE
    seen.loss_calls = [LossCall(name="mse", inputs=TensorFacts(shape=(64, 1), dtype="float32", minimum=-0.2, maximum=0.6),
                                target=TensorFacts(shape=(64, 1), dtype="float32", minimum=7e4, maximum=6e5))]
    seen.probes.train = CurveFacts(learning_rate=1e-3, losses=[8e10] * 60, start_loss=7.686e10, final_loss=end)
    seen.probes.overfit = curve(8.17e10, 8.17e10, rate=1e-3)
    seen.probes.overfit_scaled = [curve(8.17e10, 8.0e10, rate=1e-2), curve(8.17e10, 3e8, rate=rate * 1e-3)]
    return seen


def test_prices_as_they_are() -> None:
    found = out_of_reach.far(prices())
    assert found is not None
    assert "The targets go up to 6e+05" in found.message
    assert "(y - mean) / std" in found.remedy


@pytest.mark.parametrize(("end", "rate"), [(7.0e10, 100.0), (7.685e10, 10.0)])
def test_a_loss_that_comes_down_and_a_rate_near_by_that_learns(end: float, rate: float) -> None:
    assert out_of_reach.far(prices(end, rate)) is None


def test_beside_a_term_that_it_drowns_the_other_check_has_the_word() -> None:
    seen = prices()
    seen.loss_terms = [{"name": name, "line": line, "value": value, "gradient_norm": gradient}
                       for _ in range(20) for name, line, value, gradient in (("mse", 4, 8e10, 1e9), ("cross_entropy", 5, 0.7, 0.1))]
    assert out_of_reach.far(seen) is None
