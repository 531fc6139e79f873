"""Does what is learnt from some rows help with others? Asked only of a classifier whose own losses have stayed where a guess is."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from harness.checks.probe_facts import CarryFacts, ProbeFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_fit import Fits
    from harness.frameworks.watch.torch_tape import Replay

_LEAST_FITTED, _LEAST_HELD, _MOST = 200, 100, 900


def measure(fits: Fits, steps: list[list[Replay]], losses: list[float], facts: ProbeFacts, seconds: float) -> None:
    """Fit the first rows from the first weights, and look at the rows that came after them; `seconds` is an upper bound."""
    known = _first_epoch(steps)
    labels = [label for step in known for replay in step for label in replay.labels or ()]
    if not labels or not _guesses(losses, labels):
        return
    fitted, rows = [], 0
    while known and rows < 0.7 * min(len(labels), _MOST):
        fitted.append(known.pop(0))
        rows += _size(fitted[-1])
    held = [known[number] for number in range(len(known)) if sum(map(_size, known[:number])) < 0.3 * _MOST]
    held_rows = sum(map(_size, held))
    if rows < _LEAST_FITTED or held_rows < _LEAST_HELD:
        facts.skipped["carry"] = f"{rows} different rows to fit and {held_rows} to hold out are too few"
        return
    curve, accuracy, held_loss = fits.carry(fitted, held, seconds)
    common = Counter(label for step in held for replay in step for label in replay.labels or ())
    facts.carry = CarryFacts(
        rows=rows, held_rows=held_rows, steps=len(curve.losses), accuracy=curve.accuracy, loss=curve.final_loss, held_accuracy=accuracy,
        held_loss=held_loss, held_majority=max(common.values()) / held_rows)


def _first_epoch(steps: list[list[Replay]]) -> list[list[Replay]]:
    """The steps until rows come again; of rows whose content cannot be compared, none."""
    seen: set[int] = set()
    for number, step in enumerate(steps):
        marks = [mark for replay in step for mark in _marks(replay)]
        if not marks or len(marks) != _size(step):
            return []
        if sum(mark in seen for mark in marks) > 0.05 * len(marks):
            return steps[:number]
        seen.update(marks)
    return list(steps)


def _marks(replay: Replay) -> list[int]:
    rows = [tensor for tensor in replay.inputs() if tensor.dim() > 1 and tensor.device.type == "cpu" and not tensor.requires_grad]
    if not rows or replay.labels is None or rows[0].shape[0] != len(replay.labels):
        return []
    return [hash(row.numpy().tobytes()) for row in rows[0].detach().contiguous()]


def _size(step: list[Replay]) -> int:
    return sum(len(replay.labels or ()) for replay in step)


def _guesses(losses: list[float], labels: list[Any]) -> bool:
    """Whether losses end where the best answer is that does not look at the inputs."""
    counts = Counter(labels)
    floor = -sum(count / len(labels) * math.log(count / len(labels)) for count in counts.values())
    last = losses[-max(1, len(losses) // 3):]
    return len(counts) > 1 and len(losses) >= 40 and 0.95 * floor < sum(last) / len(last) < 1.25 * floor
