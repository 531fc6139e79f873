"""A metric that is taken of another array than the model's answers, where the model gives several."""

from __future__ import annotations

from harness.checks import reading
from harness.checks.base import Finding
from harness.checks.observation import Observation

_SHARES = ("accuracy", "acc", "f1", "precision", "recall", "score", "exact", "balanced")
_BETTER = 0.3


def finding(seen: Observation) -> Finding | None:
    """Judges by exchange: with two arrays in each other's place the same function says of the same rows that far more are right."""
    for call in reversed(seen.evaluation.metrics):
        shares = {name: (value, call.exchanged[name]) for name, value in call.values.items()
                  if name in call.exchanged and any(part in name.lower() for part in _SHARES)}
        better = {name: pair for name, pair in shares.items() if pair[1] - pair[0] > _BETTER and pair[1] <= 1.0}
        if better and len(better) == len(shares):
            taken, answers = (f"({', '.join(map(str, shape))})" for shape in call.arrays)
            return Finding(
                message=f"The model gives several arrays, and the metric takes the one of shape {taken}; the scores of the classes are in "
                        f"the one of shape {answers}.",
                remedy="Take that one, `predictions = eval_pred.predictions[i]`: a Trainer hands on what the model returns, in its order "
                       "and without the loss. Or let the Trainer leave the others out: `ignore_keys`, `preprocess_logits_for_metrics`.",
                site=call.function or call.site or reading.place(seen, "metric", "evaluation"),
                evidence=[f"{name}: {value:.3g} as it is, {other:.3g} with the two exchanged" for name, (value, other) in better.items()])
    return None
