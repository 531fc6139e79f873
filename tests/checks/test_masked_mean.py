"""L229, on observations made by hand."""

from __future__ import annotations

from harness.checks.loss_facts import MaskedMeanFacts
from tests.checks.made import SITE, finding, healthy, judge


def test_a_mask() -> None:
    seen = healthy()
    seen.masked_mean = MaskedMeanFacts(shape=[32, 9], zeros=0.4, site=SITE)
    found = finding("L229", seen)
    assert "(32, 9), 40% of it zero" in found.message
    assert 'reduction="none"' in found.remedy
    assert found.site == SITE


def test_weights() -> None:
    seen = healthy()
    seen.masked_mean = MaskedMeanFacts(shape=[32], zeros=0.0)
    assert "Weights (32,)" in finding("L229", seen).message


def test_silent_without_any() -> None:
    assert judge("L229", healthy()) == "clean"
