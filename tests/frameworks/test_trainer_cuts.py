"""Metrics of a Trainer that cut raw scores at one half, told by asking them again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from harness.frameworks.watch import trainer_cuts

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(60, 4)).astype("float32")
LABELS = (SCORES + RNG.normal(size=(60, 4)) > 0).astype("int64")


def found(metric: Any, scores: Any = SCORES, labels: Any = LABELS) -> Any:
    return trainer_cuts.at_half(metric, scores, labels)


def right(answers: Any, labels: Any) -> dict[str, float]:
    return {"accuracy": float((answers == labels).mean())}


@pytest.mark.parametrize("scores", [SCORES, (SCORES, np.zeros(3))])
def test_a_cut_at_one_half(scores: Any) -> None:
    def metric(given: Any, labels: Any) -> dict[str, float]:
        first = given[0] if isinstance(given, tuple) else given
        return right(first > 0.5, labels) | {"mean": float(first.mean())}

    facts = found(metric, scores)
    assert facts is not None
    assert (facts.threshold, facts.lost) == (0.5, int(((SCORES > 0) & (SCORES <= 0.5)).sum()))


@pytest.mark.parametrize("metric", [
    lambda scores, labels: right(scores > 0, labels),
    lambda scores, labels: right(1 / (1 + np.exp(-scores)) > 0.5, labels),
    lambda scores, labels: right(scores.argmax(1)[:, None], labels),
    lambda scores, labels: {"mean": float(scores.mean())},
    lambda scores, labels: "no figures",
])
def test_what_is_no_cut_at_one_half(metric: Any) -> None:
    assert found(metric) is None


def test_what_cannot_be_such_scores() -> None:
    def metric(given: Any, labels: Any) -> dict[str, float]:
        return right(given > 0.5, labels)

    probabilities = 1 / (1 + np.exp(-SCORES))
    assert found(metric, probabilities) is None
    assert found(metric, SCORES, LABELS[:, 0]) is None
    assert found(metric, SCORES, LABELS + 3) is None
