"""A classifier's loss that comes down to that of a guess, from a head drawn at random that began above it, has not learnt."""

from __future__ import annotations

import pytest

from harness.checks.reading import failed
from tests.checks.made import curve


@pytest.mark.parametrize(("start", "end", "guess", "verdict"), [
    (1.33, 1.10, 1.0986, True), (1.33, 1.10, None, False), (1.33, 0.85, 1.0986, False), (1.10, 1.09, 1.0986, True),
    (17.6, 9.0, 1.0986, False), (1.33, 1.05, 1.0986, True)])
def test_where_a_fall_begins(start: float, end: float, guess: float | None, verdict: bool) -> None:
    assert failed(curve(start, end), guess) is verdict
