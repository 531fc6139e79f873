"""Which other rates an experiment tries first."""

from __future__ import annotations

from typing import Any, cast

import pytest

from harness.checks.probe_facts import CurveFacts, ProbeFacts
from harness.frameworks.watch.fitting import Fits
from harness.frameworks.watch.session import Clock


def curve(rate: float, end: float) -> CurveFacts:
    return CurveFacts(learning_rate=rate, losses=[1.4, *[1.4 + (end - 1.4) * step / 40 for step in range(41)]])


@pytest.mark.parametrize(("tried", "rates"), [
    ([curve(1e-4, 1.39)], []),  # neither fits one batch
    ([curve(1e-4, 0.3)], [10, 100]),  # this one does
    ([curve(1e-4, 0.9)], [100, 1000]),  # on its way: a still higher one would
    ([curve(1e-4, 0.9), curve(1e-3, 0.2)], [100, 1000]),
    ([curve(1e-6, 0.3)], []),  # a lower rate is no reason to try higher ones
])
def test_of_weights_that_moved_a_little(tried: list[CurveFacts], rates: list[float]) -> None:
    facts = ProbeFacts(overfit_scaled=tried)
    fits: Fits[Any] = Fits(cast("Any", None), [], facts, Clock(), 1.0)
    own = curve(1e-5, 1.4)
    if rates:
        assert fits._other_rates(own, 0.01) == pytest.approx(rates)
    else:
        assert fits._fitted(own) == []
