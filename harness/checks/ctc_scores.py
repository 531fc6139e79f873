"""Scores that go into a CTC loss where it wants log-probabilities."""

from __future__ import annotations

from harness.checks import reading
from harness.checks.base import Finding
from harness.checks.observation import Observation

_CALLS, _OFF = 3, 0.05


def finding(seen: Observation) -> Finding | None:
    """Judges from what the exponentials of the first argument of PyTorch's `ctc_loss` come to over the classes, in all of its calls."""
    facts = seen.blanks
    if facts is None or len(facts.sums) < _CALLS or min(abs(total - 1) for total in facts.sums) < _OFF:
        return None
    return Finding(
        message=f"CTCLoss wants log-probabilities and gets something else: the exponentials come to {facts.sums[0]:.3g} over the classes, "
                "and not to 1. It multiplies what is no probability, and falls by making scores larger.",
        remedy="Pass `logits.log_softmax(dim=-1)`, of the shape (time, rows, classes).",
        site=facts.site,
        evidence=[f"in {len(facts.sums)} calls, medians from {min(facts.sums):.3g} to {max(facts.sums):.3g}", *reading.own_losses(seen)])
