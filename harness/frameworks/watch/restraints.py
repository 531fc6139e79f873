"""What holds a model back: dropout, augmentation, weight decay, a penalty, clipping, the optimizer, padding that it reads. Would its own
steps learn without?

Asked only where the steps did not learn, and of what is strong enough to be the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from harness.checks import reading
from harness.checks.probe_facts import CurveFacts, ProbeFacts, RestraintFacts
from harness.checks.tensor_facts import Site

# Less than this keeps no training from learning: share that is dropped, how far augmentation moves (in standard deviations), part of a
# weight that decays in a step, factor of a decay that goes through the gradient, part of the first loss that is a penalty, part of a batch
# that is padding. And more than this: what clipping leaves of a gradient.
DROPPED, MOVED, DECAYED, COUPLED, PENALISED, FILLED, CLIPPED = 0.5, 0.5, 0.002, 0.01, 0.5, 0.25, 0.1
# Steps from which it is asked; parts of the first loss, above which nothing was learnt and under which something was; how much longer it is
# tried with the restraint.
LEAST_STEPS, NOT_LEARNT, LEARNT, LEARNT_UNPADDED, LONGER = 40, 0.6, 0.7, 0.85, 4
# What is tried in place of an optimizer of another kind, at the rate that it has by default.
USUAL, USUAL_RATE = "Adam", 1e-3


def _always(_: ProbeFacts) -> bool:
    return True


@dataclass
class Restraint:
    """One of them. `off(backend)`: while inside, its steps and losses are without it; `longer`: for how many times the script's steps it is
    tried so; `part`: it is a part of the model that was trained with it, and losses of that are taken with it too; `learnt`: to what part
    of the first loss the steps have to come without it; `asked`: whether what is known by then leaves that open; the rest as in
    `RestraintFacts`."""

    kind: Literal["dropout", "norm", "augmentation", "decay", "penalty", "clipping", "optimizer", "padding"]
    amount: float
    off: Callable[[Any], AbstractContextManager[Any]]
    site: Site | None = None
    coupled: bool = False
    name: str = ""
    longer: int = 1
    part: bool = False
    learnt: float = LEARNT
    asked: Callable[[ProbeFacts], bool] = _always


class Fitting(Protocol):
    """What takes the steps, see `fitting.Fits`."""

    def reached(self, restraint: Restraint) -> float:
        """Mean loss with the weights of now, in evaluation mode, without a restraint unless it is a part of the model."""

    def started(self, restraint: Restraint) -> float:
        """The same with the first weights."""

    def unrestrained(self, restraint: Restraint, count: int, seconds: float) -> CurveFacts:
        """The script's first steps from the first weights, without a restraint."""

    def restrained(self, restraint: Restraint, count: int, seconds: float) -> CurveFacts:
        """The same with it."""


class Held:
    """To be made while the weights are those that the script's steps, `count` in number, have made. `constant`: the loss of one answer for
    all rows, where it is known."""

    def __init__(self, facts: ProbeFacts, found: Sequence[Restraint], fits: Fitting, count: int, constant: float | None = None) -> None:
        self._facts, self._fits, self._count, self._constant = facts, fits, count, constant
        self._ends = [(restraint, fits.reached(restraint)) for restraint in found] if count >= LEAST_STEPS else []

    def measure(self, seconds: float) -> None:
        """Take the steps again without each restraint, unless they learnt with it; and where they learn then, many more of them with it:
        a training that is held back may only be slow."""
        for restraint, end in self._ends:
            start = self._fits.started(restraint)
            level = min(start, self._constant or start)
            if end < NOT_LEARNT * level or not restraint.asked(self._facts):
                continue
            without = self._fits.unrestrained(restraint, restraint.longer * self._count, seconds)
            if without.final_loss is None or without.final_loss > restraint.learnt * level:
                continue
            own = self._fits.restrained(restraint, LONGER * self._count, seconds)
            own.start_loss = start
            self._facts.restraints.append(RestraintFacts(
                kind=restraint.kind, amount=restraint.amount, name=restraint.name, own=own, without=without, coupled=restraint.coupled,
                site=restraint.site))


def no_other_rate(facts: ProbeFacts) -> bool:
    """Whether the steps were tried at other rates, and learnt at none, nor without anything else that holds the model back."""
    tried = facts.train_scaled or facts.overfit_scaled  # those on one batch, where the steps moved the weights about as far as they should
    return bool(tried) and not facts.restraints and not any(map(reading.learned, tried))
