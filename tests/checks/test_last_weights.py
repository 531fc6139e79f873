"""E527, on observations made by hand."""

from __future__ import annotations

import pytest

from harness.checks.evaluation_facts import MonitorFacts
from harness.checks.observation import Observation
from tests.checks.made import SITE, finding, healthy, judge

FALLING, RISING = [0.9, 0.7, 0.6, 0.5], [0.6, 0.8, 1.0, 1.2, 1.3, 1.4]


def stopping(values: list[float], *, leaves: bool = True, greater: bool = False) -> Observation:
    seen = healthy()
    seen.evaluation.monitors = [MonitorFacts(kind="EarlyStopping", measure="val_accuracy" if greater else "val_loss", greater=greater,
                                             leaves=leaves, first=values[0], values=values, site=SITE)]
    return seen


def test_a_loss_that_is_worse_than_at_first() -> None:
    found = finding("E527", stopping(FALLING + RISING))
    assert "6 epochs after the best one" in found.message
    assert "0.5" in found.message
    assert "restore_best_weights=True" in found.remedy
    assert found.site == SITE


def test_an_accuracy() -> None:
    found = finding("E527", stopping([0.6, 0.8, 0.9, 0.85, 0.7, 0.6, 0.55, 0.5], greater=True))
    assert "`val_accuracy` is 0.5, and was 0.9" in found.message


@pytest.mark.parametrize("values", [
    [*FALLING, 0.6, 0.7, 0.75, 0.8, 0.82, 0.85],  # still better than at first
    [*FALLING, 1.0, 1.2],  # the best one is not long ago
    [0.5, 0.49, 0.51, 0.52, 0.5, 0.52, 0.53, 0.52],  # worse by little
    [*FALLING, 0.55, 0.5, 0.52, 0.51, 1.4]])  # one epoch alone
def test_silent_where_little_is_lost(values: list[float]) -> None:
    assert judge("E527", stopping(values)) == "clean"


def test_silent_where_the_best_ones_are_kept() -> None:
    assert judge("E527", stopping(FALLING + RISING, leaves=False)) == "clean"


def test_silent_without_any() -> None:
    assert judge("E527", healthy()) == "clean"
