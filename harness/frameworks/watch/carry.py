"""Does what is learnt from some rows help with others? Asked only of a classifier whose own losses have stayed where a guess is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.checks import reading
from harness.checks.probe_facts import CarryFacts, CurveFacts, ProbeFacts

_LEAST_FITTED, _LEAST_HELD, _MOST = 200, 100, 900
_LEAST_LOSSES, _LEAST_FITS, _MOST_FASTER = 40, 200, 10.5
_AGAIN = 0.3


@dataclass
class Portion:
    """What one optimizer step was made of: `labels` of its rows, and a `mark` a row that tells rows of other content apart."""

    step: Any
    labels: list[Any]
    marks: list[int]


Fit = Callable[[list[Any], list[Any]], tuple[CurveFacts, float | None, float]]


def factor(facts: ProbeFacts, step_s: float, seconds: float) -> float | None:
    """By what to multiply the script's rate to learn many rows by heart: the first at which one batch can be fitted, up to ten times it.

    None where it is not worth asking. `step_s`: seconds that one step takes; `seconds`: that there are.
    """
    own = facts.overfit
    fits = [] if own is None else [(1.0, own), *((curve.learning_rate / own.learning_rate, curve) for curve in facts.overfit_scaled
                                                 if own.learning_rate)]
    found = next((by for by, curve in fits if 1 <= by <= _MOST_FASTER and _fitted(curve)), None)
    if found is None or any(reading.learned(other) for other in facts.train_scaled):
        return None  # or another rate learns the same rows
    if _LEAST_FITS * step_s > seconds:
        facts.skipped["carry"] = f"one step takes {step_s:.2f} s"
        return None
    return found


def _fitted(curve: CurveFacts) -> bool:
    return len(curve.losses) > 1 and curve.losses[-1] < 0.6 * curve.losses[0]


def measure(fit: Fit, portions: Sequence[Portion], losses: list[float], facts: ProbeFacts) -> None:
    """Fit the first rows from the first weights, and look at the rows that came after them.

    `fit(fitted, held)`: the curve over some steps, with the accuracy on their rows, then accuracy and loss (nats) on the others'.
    """
    known = _first_epoch(portions)
    labels = [label for portion in known for label in portion.labels]
    if not labels or not _guesses(losses, labels):
        return
    fitted: list[Portion] = []
    while known and _rows(fitted) < 0.7 * min(len(labels), _MOST):
        fitted.append(known.pop(0))
    held = [portion for number, portion in enumerate(known) if _rows(known[:number]) < 0.3 * _MOST]
    if _rows(fitted) < _LEAST_FITTED or _rows(held) < _LEAST_HELD:
        facts.skipped["carry"] = f"{_rows(fitted)} different rows to fit and {_rows(held)} to hold out are too few"
        return
    curve, accuracy, loss = fit([portion.step for portion in fitted], [portion.step for portion in held])
    commonest = max(Counter(label for portion in held for label in portion.labels).values())
    facts.carry = CarryFacts(
        rows=_rows(fitted), held_rows=_rows(held), steps=len(curve.losses), accuracy=curve.accuracy, loss=curve.final_loss,
        held_accuracy=accuracy, held_loss=loss, held_majority=commonest / _rows(held))


def _first_epoch(portions: Sequence[Portion]) -> list[Portion]:
    """The portions until rows come again; none where contents cannot be compared. Some rows of short texts are alike."""
    seen: set[int] = set()
    for number, portion in enumerate(portions):
        if not portion.marks or len(portion.marks) != len(portion.labels):
            return []
        if sum(mark in seen for mark in portion.marks) > _AGAIN * len(portion.marks):
            return list(portions[:number])
        seen.update(portion.marks)
    return list(portions)


def _rows(portions: Sequence[Portion]) -> int:
    return sum(len(portion.labels) for portion in portions)


def _guesses(losses: list[float], labels: list[Any]) -> bool:
    """Whether losses end where the best answer is that does not look at the inputs."""
    counts = Counter(labels)
    floor = -sum(count / len(labels) * math.log(count / len(labels)) for count in counts.values())
    last = losses[-max(1, len(losses) // 3):]
    return len(counts) > 1 and len(losses) >= _LEAST_LOSSES and 0.95 * floor < sum(last) / len(last) < 1.25 * floor
