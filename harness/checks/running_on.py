"""Evaluations whose counters are never set back."""

from __future__ import annotations

from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation


class RunningOn(Check):
    """The figure of an evaluation runs over all evaluations so far: its counters are never set back.

    A metric object adds up until it is reset, and so do `correct += ...` and `total += ...` that were begun before the loop over epochs.
    The figure after ten epochs is then a mean over ten models, most of them worse: it rises late, and the best epoch does not show.
    Sources: Keras docs, Metrics (`reset_state`, which `fit` calls and a loop has to); PyTorch tutorials, "Training a Classifier".
    """

    code: ClassVar[str] = "E524"
    stage: ClassVar[Stage] = "evaluation"
    requires: ClassVar[tuple[str, ...]] = ("E516",)

    def check(self, seen: Observation) -> Finding | None:
        """Judges from what a metric object has counted at the end of each evaluation; of counters of Python, and of objects of the
        script's own, from its text."""
        found = seen.running_on
        if found is None:
            return None
        if found.told is not None and found.alone is not None:
            return Finding(
                message=f"`{found.names[0]}` is asked after {found.passes} evaluations and is not reset between them: it tells "
                        f"{found.told:.3g} of all of them together, where the last one alone gives {found.alone:.3g}.",
                remedy="Reset it when an evaluation begins: `metric.reset_state()`. `fit` and `evaluate` do that by themselves, a loop "
                       "does not.",
                site=found.site, evidence=["what it has counted grows from one evaluation to the next"])
        if found.resets:
            return Finding(
                message=f"`{found.names[0]}` is told of the batches of every evaluation, and is never set back: what it says is of all "
                        "evaluations so far, and not of the last.",
                remedy=f"Set it back before the loop over batches: `{found.names[0]}.{found.resets}()`.",
                site=found.site, evidence=[f"its method `{found.resets}` is called nowhere"])
        if found.default:
            return Finding(
                message=f"`{found.names[0]}` is a parameter's default value, which Python makes once, when the function is defined: every "
                        "evaluation adds to what the ones before it have left there.",
                remedy=f"Make it in the function: `{found.names[0]}=None`, and in its first line `{found.names[0]} = ...`; or hand over a "
                       "new one with each call.",
                site=found.site, evidence=["the function is called in a loop, without this argument, and empties it nowhere"])
        names = " and ".join(f"`{name}`" for name in found.names)
        return Finding(
            message=f"{names} are begun before the loop over epochs, and every evaluation adds to them: what is divided there is of all "
                    "evaluations so far, and not of the last.",
            remedy="Begin them anew in each epoch, before the loop over batches: `correct, total = 0, 0`.",
            site=found.site, evidence=["nothing in the loop gives them another value than one that is added to"])
