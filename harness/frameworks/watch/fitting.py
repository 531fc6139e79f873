"""Experiments: the script's first steps taken again, at its own learning rate and at others. Which ones, and when enough is known.

Nothing here knows a framework: what one brings is a `Backend`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Generic, TypeVar

from harness.checks import reading
from harness.checks.model_facts import UnitFacts
from harness.checks.probe_facts import CurveFacts, ProbeFacts
from harness.frameworks.watch.carry import Portion
from harness.frameworks.watch.restraints import Restraint
from harness.frameworks.watch.session import Clock

# What one optimizer step of the script was made of, and a change of the tensors that its model is given.
S = TypeVar("S")
Change = Callable[[Any], Any]

_SLOWER, _FASTER = 1 / 20, 20.0
_LEARNT, _ON_ITS_WAY, _FAINT = 0.5, 0.8, 0.003
_FITTED = 0.03
_FIT_STEPS = 100
_TRAIN_STEPS = 120
_EPOCHS = 60
LEAST_STEPS = 8
_MERGED, _MOST_LABELS = 4, 32
_MEASURED, _FEWEST = 12, 3
# Shares of the time: that one measurement over several batches may take, and the one before training.
_MEASURING, _FIRST_MEASURING = 0.06, 0.1
# How far a short training that learns moves its weights, roughly; and no rate is tried that is further from the script's than this.
_SENSIBLE, _MOST_FASTER = 0.03, 1e8
_LEARNS = "the script's own rate learns"
_STILL, NEAR = 0.002, 0.02  # displacements: under the first the weights stand still, under the second no rate is too high


class Backend(ABC, Generic[S]):
    """Takes the script's steps again, on its own model. All but `moved` is to be called inside `held()`.

    `rate`: the learning rate that the script asks for.
    """

    rate: float

    @abstractmethod
    def held(self) -> AbstractContextManager[None]:
        """While inside, weights, optimizers and generators may be changed freely; everything is put back at the end."""

    @abstractmethod
    def put(self) -> None:
        """The weights as they were before the script's first step."""

    @abstractmethod
    def moved(self) -> list[float]:
        """How far every weight matrix is from the first one: norm of the change / norm before."""

    @abstractmethod
    def loss(self, step: S, change: Change | None = None) -> float:
        """The loss of a step in evaluation mode, with the weights of now."""

    @abstractmethod
    def losses(self, steps: list[S], factor: float, count: int, change: Change | None = None) -> Iterator[float]:
        """Take `count` steps in turn from the weights of now, with a new optimizer at the script's rate times `factor`: their losses."""

    @abstractmethod
    def accuracy(self, steps: list[S], change: Change | None = None) -> float | None:
        """Share of rows whose class comes out right, in evaluation mode; None where there are no classes."""

    @abstractmethod
    def standardiser(self, steps: list[S]) -> Change | None:
        """What standardises the inputs of these steps; None where they are near that already."""

    @abstractmethod
    def inputs(self, step: S, facts: ProbeFacts) -> None:
        """Whether outputs depend on the inputs at all (and, where it can be told, whether they repeat)."""

    @abstractmethod
    def input_matters(self, step: S, change: Change | None = None) -> bool | None:
        """Whether outputs of shaken first weights depend on the (changed) inputs; None where that cannot be told."""

    @abstractmethod
    def matters(self, step: S, weights: list[Any]) -> bool | None:
        """Whether the loss of a step changes with these weights; None where it does not repeat by itself."""

    @abstractmethod
    def units(self, steps: list[S]) -> list[UnitFacts]:
        """The nonlinearities of the weights of now: shares of units that never fire over these steps."""

    @abstractmethod
    def portion(self, step: S) -> Portion:
        """Labels and contents of the rows of a step, as far as they are known."""

    @abstractmethod
    def rows(self, step: S) -> int:
        """Rows of a step; 0 where that cannot be told."""

    @abstractmethod
    def together(self, steps: list[S]) -> S | None:
        """One step of the rows of several; None where they do not go together."""


class Fits(Generic[S]):
    """Experiments with `steps` within `seconds` of a clock. `step_s`: seconds that one step takes, where that is known.

    Everything but `displacement` is to be called inside the backend's `held()`.
    """

    def __init__(self, backend: Backend[S], steps: list[S], facts: ProbeFacts, clock: Clock, seconds: float, step_s: float = 0.0) -> None:
        self.backend = backend
        self.step_s = step_s
        self._steps = steps
        self._facts = facts
        self._clock, self._seconds = clock, seconds
        self._forward_s = 0.0
        self._displacement: float | None = None
        self.mean_rate = 1.0  # of the script's steps, which a schedule may have changed, by the rate that they began with

    @property
    def _left(self) -> float:
        return self._seconds - self._clock.seconds()

    def displacement(self) -> float | None:
        """How far the weights are from the first ones: norm of the change / norm before, median over the matrices that moved."""
        self._displacement = self._median_moved()
        return self._displacement

    def _median_moved(self) -> float | None:
        everything = self.backend.moved()
        found = sorted(one for one in everything if one > 0) or everything  # what gets no gradient stays where it is at any rate
        return found[len(found) // 2] if found else None

    # Before training

    def initial(self) -> None:
        """Loss of the first weights in evaluation mode, a mean over the batches."""
        self.backend.put()
        self._mean_loss(self._steps[:1])  # what is built once is not what a forward pass takes
        first = self._mean_loss(self._steps[:1])
        self.step_s = self.step_s or 3 * self._forward_s
        # Of a slow model fewer batches: what is left of the time belongs to fitting.
        chosen = self._steps[:max(2, min(len(self._steps), int(_FIRST_MEASURING * self._seconds / (self._forward_s + 1e-9))))]
        self._facts.initial_loss = self._mean_loss(chosen) if len(chosen) > 1 else first
        self._facts.initial_rows = sum(self.backend.rows(step) for step in chosen)

    def inputs(self) -> None:
        """Whether outputs depend on the inputs at all; inputs that are far too large for them may do so when they are standardised."""
        self.backend.inputs(self._steps[0], self._facts)
        if self._facts.input_matters is False:
            change = self.backend.standardiser(self._steps)
            if change is not None and self.backend.input_matters(self._steps[0], change):
                self._facts.input_matters = None
                self._facts.skipped["input_matters"] = "only inputs of another scale reach the output"

    def units(self) -> list[UnitFacts]:
        """The nonlinearities of the first weights: units that far too large steps have killed are an echo of the rate."""
        self.backend.put()
        return self.backend.units(self._steps[:min(LEAST_STEPS, self._affordable())])

    def _affordable(self) -> int:
        """How many batches one measurement may take: of a slow model fewer."""
        return max(_FEWEST, min(_MEASURED, int(_MEASURING * self._seconds / (self._forward_s + 1e-9))))

    def _mean_loss(self, steps: list[S], change: Change | None = None) -> float:
        """Mean loss over an even choice of the steps, in evaluation mode; of the finite ones where there are some."""
        begun = self._clock.seconds()
        losses = [self.backend.loss(step, change) for step in steps[:: (len(steps) - 1) // self._affordable() + 1]]
        self._forward_s = (self._clock.seconds() - begun) / len(losses)
        finite = [loss for loss in losses if math.isfinite(loss)]
        return sum(finite) / len(finite) if finite else math.nan

    def now(self) -> float:
        """Mean loss over the steps in evaluation mode, with the weights of now."""
        return self._mean_loss(self._steps)

    # Fitting

    def overfit(self) -> None:
        """Overfit one batch at the script's rate; where that does not go, at others: lower and higher in turn, until one does."""
        facts = self._facts
        if LEAST_STEPS * self.step_s > 2 * self._seconds:
            facts.skipped["overfit"] = f"one step takes {self.step_s:.1f} s"
            return
        merged, one = self._one_batch()
        batch = [one]
        facts.overfit_rows = self.backend.rows(one)
        facts.overfit = self._curve(batch, 1.0, _FIT_STEPS, 0.6 * self._left, stop_early=True, measure=True)
        if not _fell(facts.overfit.losses):
            self._overfit_elsewhere(batch, facts.overfit)
        self.step_s /= merged

    def _overfit_elsewhere(self, batch: list[S], own: CurveFacts) -> None:
        facts = self._facts
        wanted = len(own.losses) if all(math.isfinite(loss) for loss in own.losses) else _FIT_STEPS
        first, last = own.start_loss or 0.0, own.final_loss or 0.0
        moved = sorted(found for found in self.backend.moved() if found)
        # A loss may change beside weights that do not: running statistics do that.
        still = math.isfinite(last) and (abs(last - first) < 0.02 * abs(first) or (bool(moved) and moved[len(moved) // 2] < _STILL))
        # Weights that hardly move tell themselves how much more it would take: a movement is in proportion to the rate.
        moved = moved if still else []
        wanting = [round(_SENSIBLE / moved[len(moved) // 2], -1)] if moved and moved[len(moved) // 2] < 0.1 * _SENSIBLE else []
        drop = (first - last) / first if still and first > 0 else 0.0
        if not wanting and _FAINT < drop < _ON_ITS_WAY:  # as far as it came, a rate so much higher would have come all the way
            wanting = [10.0 ** math.ceil(math.log10(_LEARNT / drop))]
        guesses = [guess for found in wanting for guess in (found, 10 * found, found / 10) if 10 <= guess <= _MOST_FASTER]
        for factor in (*guesses, 10.0, 100.0, 1e3, 1e4, 0.1, 1e5, 0.01, 1e6) if still else (0.1, 0.01, 10.0, 0.001, 100.0):
            if self._left < LEAST_STEPS * self.step_s:
                facts.skipped[f"overfit_scaled x{factor:g}"] = "no time left"
                continue
            facts.overfit_scaled.append(self._curve(batch, factor, max(wanted, 20), self._left))
            if _fell(facts.overfit_scaled[-1].losses):
                break

    def train(self, losses: list[float], *, highest: float | None = None, numbers: bool = False) -> None:
        """Hold the script's own steps against the same batches at another rate, unless these steps learnt beyond doubt.

        `losses`: of the script's own steps, which ended at the weights of now. `highest`: the rate that a schedule began with, where it
        left little of it; then it is kept for as many steps. `numbers`: it is these that are learnt, whose loss may fall a long way and be
        that of nothing learnt still: then the same steps with standardised inputs are asked for in any case.
        """
        facts = self._facts
        own = CurveFacts(learning_rate=self.backend.rate, losses=losses)
        if highest is None and not numbers and self.step_s and learns(losses) and reading.learned(own):
            facts.train = own  # what is free of the noise of single batches would say the same
            facts.skipped["train_scaled"] = _LEARNS
            return
        if len(losses) >= 2 * LEAST_STEPS:
            own.final_loss = self._mean_loss(self._steps)
        self.backend.put()
        own.start_loss = self._mean_loss(self._steps)
        self.step_s = self.step_s or 3 * self._forward_s
        if len(losses) < 2 * LEAST_STEPS:
            own = self._curve(self._steps, 1.0, _TRAIN_STEPS, 0.4 * self._left, measure=True)
        facts.train = own
        if highest is not None and self.backend.rate and len(self._steps) >= len(own.losses) and self._left >= LEAST_STEPS * self.step_s:
            facts.train_kept = self._curve(self._steps, highest / self.backend.rate, len(own.losses), 0.5 * self._left, measure=True)
        if numbers or not learns(own.losses):
            self._standardised(own)
        half = 0.5 * sum(own.losses[-LEAST_STEPS:]) / len(own.losses[-LEAST_STEPS:])
        if learns(own.losses):
            facts.skipped["train_scaled"] = _LEARNS
            if facts.undivided and not reading.learned(own):  # down to what a constant answer costs is no proof of the step's size
                self._elsewhere(own, self.mean_rate / facts.undivided, half)
            return
        moved = self._displacement if self._displacement is not None else 1.0
        if _STILL <= moved < NEAR and not self._fitted(own):
            facts.skipped["train_scaled"] = f"the steps moved the weights by {moved:.1%}: neither too far nor not at all"
            return
        for factor in self._other_rates(own, moved):
            if self._elsewhere(own, factor, half):
                break

    def _other_rates(self, own: CurveFacts, moved: float) -> list[float]:
        """The factors of the rate to hold the script's own against, by how far its steps moved the weights; the best guess first."""
        divided = [self.mean_rate / self._facts.undivided] if self._facts.undivided else []
        if not moved <= 1.0:  # nor a number any more
            # Weights that moved by more than their own size want more than a little less: halfway (in powers) to a sensible movement.
            return [*divided, max(1e-4, math.sqrt(_SLOWER * min(_SLOWER, _SENSIBLE / moved))), _SLOWER]
        fitted = self._fitted(own)
        if _STILL <= moved < NEAR and fitted:
            return [min(fitted), min(10 * min(fitted), _MOST_FASTER)]
        if moved >= _STILL:
            return [*divided, _SLOWER]
        # What fitted one batch is the best guess of what would train.
        faster = max([_FASTER, *fitted])
        best = faster if fitted or moved <= 0 else min(max(faster, _SENSIBLE / moved), _MOST_FASTER)
        return list(dict.fromkeys((best, min(10 * best, _MOST_FASTER))))

    def _fitted(self, own: CurveFacts) -> list[float]:
        """The factors above one at which one batch was fitted, where the script's own rate did not; ten times one that was on its way."""
        tried = [(curve.learning_rate / own.learning_rate, curve.losses) for curve in self._facts.overfit_scaled if own.learning_rate]
        fitted = [factor for factor, losses in tried if factor > 1 and _fell(losses)]
        onward = [min(10 * factor, _MOST_FASTER) for factor, losses in tried if factor > 1 and losses[-1] < _ON_ITS_WAY * losses[0]]
        return fitted or onward[:1]

    def _elsewhere(self, own: CurveFacts, factor: float, half: float) -> bool:
        """The script's steps at another rate; whether their losses end under `half` of its own, which is beyond doubt."""
        if self._left < LEAST_STEPS * self.step_s:
            self._facts.skipped[f"train_scaled x{factor:g}"] = "no time left"
            return True
        count = max(len(own.losses), 2 * LEAST_STEPS)
        found = self._curve(self._steps, factor, count, self._left, measure=True, least=self._all(count, self._seconds), below=half)
        self._facts.train_scaled.append(found)
        return sum(found.losses[-LEAST_STEPS:]) / len(found.losses[-LEAST_STEPS:]) < half

    def carry(self, fitted: list[S], held: list[S], seconds: float, factor: float = 1.0) -> tuple[CurveFacts, float | None, float]:
        """Fit some steps again and again at the script's rate times `factor`: the curve, with accuracy on their rows, and accuracy and
        loss on others."""
        curve = self._curve(fitted, factor, _EPOCHS * len(fitted), seconds, stop_early=True, measure=True)
        curve.accuracy = self.backend.accuracy(fitted)
        return curve, self.backend.accuracy(held), self._mean_loss(held)

    def again(self, count: int) -> CurveFacts | None:
        """The script's steps once more, at its own rate, of whatever the backend takes for the loss now; None without time for it."""
        if self._left < LEAST_STEPS * self.step_s:
            return None
        return self._curve(self._steps, 1.0, count, self._left, measure=True)

    def in_order(self, steps: list[S], seconds: float) -> CurveFacts:
        """These steps from the first weights, each once, at the script's rate; the losses before and after are means over all of them."""
        return self._curve(steps, 1.0, len(steps), seconds, measure=True, least=len(steps))

    def reached(self, restraint: Restraint) -> float:
        """Mean loss with the weights of now, in evaluation mode, without a restraint unless it is a part of the model."""
        with nullcontext() if restraint.part else restraint.off(self.backend):
            return self._mean_loss(self._steps)

    def started(self, restraint: Restraint) -> float:
        """The same with the first weights."""
        self.backend.put()
        return self.reached(restraint)

    def unrestrained(self, restraint: Restraint, count: int, seconds: float) -> CurveFacts:
        """The script's first `count` steps from the first weights, without a restraint."""
        with restraint.off(self.backend):
            return self._curve(self._steps, 1.0, count, seconds, measure=True, least=self._all(count, seconds))

    def restrained(self, restraint: Restraint, count: int, seconds: float) -> CurveFacts:
        """The same with it; the loss at the end is measured without, in evaluation mode."""
        found = self._curve(self._steps, 1.0, count, seconds, least=self._all(count, seconds))
        found.final_loss = self.reached(restraint)
        return found

    def _all(self, count: int, seconds: float) -> int:
        """As many steps as the script's own were, or nothing is compared; a little over time for that."""
        return count if count * self.step_s < 2 * seconds else LEAST_STEPS

    def _standardised(self, own: CurveFacts) -> None:
        """The same run with standardised inputs, where they are of another scale than that."""
        change = self.backend.standardiser(self._steps)
        if change is not None and self._left >= LEAST_STEPS * self.step_s:
            count = max(len(own.losses), 2 * LEAST_STEPS)
            self._facts.train_standardised = self._curve(self._steps, 1.0, count, 0.4 * self._left, measure=True, change=change)

    def _one_batch(self) -> tuple[int, S]:
        """One step that holds every label of the first steps, put together from several where none does; and how many that took."""
        labels = [set(self.backend.portion(step).labels) for step in self._steps]
        every = set().union(*labels)
        chosen: list[int] = []
        held: set[Any] = set()
        while len(every) <= _MOST_LABELS and held != every and len(chosen) < _MERGED:
            best = max(range(len(labels)), key=lambda number: len(labels[number] - held))
            chosen.append(best)
            held |= labels[best]
        if len(chosen) > 1:
            merged = self.backend.together([self._steps[number] for number in chosen])
            if merged is not None:
                return len(chosen), merged
        return 1, self._steps[chosen[0] if chosen else 0]

    def _curve(self, steps: list[S], factor: float, count: int, seconds: float, *, stop_early: bool = False, measure: bool = False,
               change: Change | None = None, least: int = LEAST_STEPS, below: float = -math.inf) -> CurveFacts:
        self.backend.put()
        curve = CurveFacts(learning_rate=self.backend.rate * factor)
        if measure:
            curve.start_loss = self._mean_loss(steps, change)
        begun = self._clock.seconds()
        for number, loss in enumerate(self.backend.losses(steps, factor, count, change), start=1):
            curve.losses.append(loss)
            if number == 1:
                begun = self._clock.seconds()  # the first step of all may include building a function
            if self._is_over(curve, stop_early=stop_early, below=below) or (
                    number >= least and self._clock.seconds() - begun > seconds):
                break
        if len(curve.losses) > 1:
            self.step_s = (self._clock.seconds() - begun) / (len(curve.losses) - 1)
        curve.final_loss = self._mean_loss(steps, change) if measure else None
        curve.accuracy = self.backend.accuracy(steps[:4], change)
        return curve

    def _is_over(self, curve: CurveFacts, *, stop_early: bool, below: float) -> bool:
        """Whether more steps would tell nothing more."""
        losses = curve.losses
        if not math.isfinite(losses[-1]):
            return True
        if stop_early and len(losses) > LEAST_STEPS and max(losses[-3:]) < _FITTED * losses[0]:
            return True
        under = len(losses) > 2 * LEAST_STEPS and sum(losses[-LEAST_STEPS:]) / LEAST_STEPS < below
        return under and reading.learned(curve)


def learns(losses: Iterable[float]) -> bool:
    """Whether the last third of a script's losses is clearly under the first third and the very first; only to save time.

    Steps that are too large throw the loss up at once: coming back from there is no learning.
    """
    found = list(losses)
    third = max(1, len(found) // 3)
    return bool(found) and sum(found[-third:]) < 0.8 * min(sum(found[:third]), third * found[0])


def _fell(losses: list[float]) -> bool:
    """Whether losses ended at half of where they began; only to save time, no verdict."""
    last = losses[-3:]
    return bool(last) and all(math.isfinite(loss) for loss in last) and sum(last) / len(last) < _LEARNT * losses[0]
