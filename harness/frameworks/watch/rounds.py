"""When the experiments run: a first round after eight steps, a second when the steps have all been watched.

They run between two steps, on batches that the script has trained on, so that no loader is touched, and start from the weights as they
were before the first step. Everything is put back afterwards.
"""

from __future__ import annotations

import math
import statistics
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, Protocol

import numpy as np

from harness.checks import constant_answer
from harness.checks.loss_facts import LossCall
from harness.checks.norm_facts import SlowFacts
from harness.checks.observation import Observation
from harness.checks.probe_facts import AlikeFacts, EndsReadFacts, SameBatchFacts
from harness.frameworks.watch import baseline, carry, defaults, norms, one_shot, orders, padding_words, reseeded, restraints
from harness.frameworks.watch.fitting import NEAR, Backend, Fits, S, learns
from harness.frameworks.watch.norms import Hasty, Slow
from harness.frameworks.watch.session import Clock, WatchSession
from harness.frameworks.watch.sites import Place, names_in, site

FIRST = 8
KEPT_BYTES = 512 << 20
_PATIENCE_S = 4.0
_FIRST_SHARE, _SECOND_SHARE, _CARRY_SHARE, _RESTRAINT_SHARE, _ORDER_SHARE = 0.4, 1.0, 1.5, 0.7, 0.7


class Watched(Protocol):
    """The watcher of a framework, as far as the experiments need it."""

    session: WatchSession
    seen: Observation
    data: Any

    @property
    def in_full(self) -> bool:
        """Whether steps are still watched in full."""


class Rounds(ABC, Generic[S]):
    """Keeps the steps of a script, and experiments with them."""

    fatal: tuple[str, ...] = ()  # in an error's text: nothing can be run after it

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.facts = watched.seen.probes
        self.steps: list[S] = []
        self.begun = 0
        self.kept_bytes = 0
        self._step_s = 0.0
        self._restraints: list[restraints.Restraint] = []

    @property
    def over(self) -> bool:
        """Whether all rounds are done."""
        return self.begun > 1

    @abstractmethod
    def backend(self, steps: list[S]) -> Backend[S] | str:
        """What takes these steps again, or why none can."""

    @abstractmethod
    def moved(self) -> list[float]:
        """How far every weight matrix is from the first one: norm of the change / norm before; nothing where that is not known."""

    @abstractmethod
    def refusal(self) -> str | None:
        """Why optimizer steps cannot be taken again, though losses can be computed; None where they can."""

    def nothing(self) -> str:
        """Why there are no steps to experiment with."""
        return "no optimizer step was seen"

    def before(self) -> None:
        """The first round is about to begin, whether steps can be taken again or not."""

    def step_seconds(self) -> float:
        """What a step will take that is taken again, where the script's own steps tell; 0 where they do not."""
        return 0.0

    def look(self, fits: Fits[S], steps: list[S]) -> None:
        """The first weights are in place, and everything will be put back."""

    def further(self, fits: Fits[S], steps: int) -> None:
        """What else the script's steps are worth trying for."""

    def restraints(self, fits: Fits[S], steps: list[S]) -> list[restraints.Restraint]:
        """What holds the model back, and how to do without it. The first weights are in place."""
        return []

    def arrays(self, step: S) -> list[np.ndarray[Any, Any]]:
        """What the model is given in a step, rows first."""
        return []

    def alike(self) -> AlikeFacts | None:
        """A layer whose units began alike and still are. The weights are those of now."""
        return None

    def fetched(self) -> tuple[int, Place | None] | None:
        """Where a loader of several batches was asked for a new first one at every step, or for one by its number: how many batches it
        has, and where they are made."""
        return None

    def _same_batch(self) -> SameBatchFacts | None:
        """Steps that all had the batch of the one before, though it was put together anew and there are other rows."""
        seeded, fetched = self.watched.session.seeds.place(), self.fetched()
        if len(self.steps) < FIRST or (seeded is None and fetched is None):
            return None
        batches = list(map(self.arrays, self.steps))
        same = reseeded.same(batches)
        if same < len(batches) - 1:
            return None
        place, seed = seeded or (fetched[1] if fetched is not None else None, None)
        return SameBatchFacts(same=same, steps=len(batches), rows=max(len(part) for part in batches[0]), seed=seed, site=site(place),
                              batches=fetched[0] if fetched is not None else None)

    def undivided(self) -> int:
        """Of how many batches each step adds up the gradients without dividing; 0 where it does not."""
        return 0

    def hasty(self, fits: Fits[S]) -> Hasty | None:
        """Layers that normalise by what their newest batch was. The weights are those of now."""
        return None

    def slow(self, fits: Fits[S], taken: int, steps: int) -> Slow | None:
        """Layers that normalise by what they began with, when all `steps` are taken, of which so many were: by the weights of now."""
        return None

    def ends_read(self, fits: Fits[S]) -> EndsReadFacts | None:
        """What answers owe to the filler at the ends of rows. The weights are those of now."""
        return None

    def leaves_zero_out(self) -> bool:
        """Whether a table of the model's takes the id 0 for padding."""
        return False

    def forget(self) -> None:
        """All rounds are done: let go of what was kept."""
        self.steps, self.kept_bytes = [], 0

    def stepped(self) -> None:
        """A step is over. Runs a round when its time has come."""
        self.watched.session.seeds.stepped()
        try:
            self._proceed()
        finally:
            self.watched.session.growing.stepped()

    def _proceed(self) -> None:
        if self.over:
            return
        late = self.watched.session.watched_seconds
        if self.begun == 0 and (len(self.watched.seen.steps) >= FIRST or late > _PATIENCE_S):
            self._round(self._first, _FIRST_SHARE)
        budget = self.watched.session.budget
        if self.begun == 1 and (not self.watched.in_full or late > budget.seconds - 0.7 * budget.probe_seconds):
            self._round(self._second, _SECOND_SHARE)
            self.forget()

    def conclude(self) -> None:
        """No further steps will come: the rounds that did not come, on what there is."""
        if self.begun == 0:
            self._round(self._first, _FIRST_SHARE)
        if self.begun == 1:
            self._round(self._second, _SECOND_SHARE)
        self.begun = 2
        self.forget()

    def finish(self, error: BaseException | None) -> None:
        """The script is over: it concludes, unless its device or memory is gone."""
        told = f"{type(error).__name__} {error}"
        if self.facts.evaluation_error is not None or any(part in told for part in self.fatal):
            self.begun = 2
        self.conclude()
        session = self.watched.session
        session.noted("used_up", session.safely("rows that come once", one_shot.used_up, session.script))
        session.noted("one_shot", session.safely("rows that come once", one_shot.kept, session.script))
        session.safely("the baseline", baseline.measure, self.watched.data, self.facts, session.wholes.measure)

    def undecided(self) -> bool:
        """Whether the steps so far moved the weights far, and the loss yet has not fallen: then more of them are worth their time."""
        if learns(self._losses()):
            return False
        moved = sorted(self.moved())
        return bool(moved) and moved[len(moved) // 2] >= NEAR

    def _losses(self) -> list[float]:
        return [step.loss for step in self.watched.seen.steps if step.loss is not None]

    def _round(self, run: Callable[[Clock, float], None], share: float) -> None:
        self.begun += 1
        if self.watched.session.budget.probe_seconds <= 0:
            self.facts.skipped[f"round {self.begun}"] = "no time for experiments"
            return
        clock = Clock()
        try:
            with self.watched.session.paused(), warnings.catch_warnings(action="ignore"):
                run(clock, share * self.watched.session.budget.probe_seconds)
        except Exception as error:  # noqa: BLE001 - an experiment runs the script's own code, which may raise anything
            self.facts.skipped.setdefault(f"round {self.begun}", f"{type(error).__name__}: {error}"[:300])
        self.facts.seconds += clock.seconds()

    def _fits(self, clock: Clock, seconds: float, steps: list[S]) -> Fits[S] | None:
        found = self.backend(steps) if steps else self.nothing()
        if isinstance(found, str):
            self.facts.skipped |= dict.fromkeys(("initial_loss", "overfit", "train")[2 * (self.begun - 1):], found)
            return None
        return Fits(found, steps, self.facts, clock, seconds, self._step_s or self.step_seconds())

    def _may_fit(self, name: str) -> bool:
        reason = self.refusal()
        if reason is not None:
            self.facts.skipped[name] = reason
        return reason is None

    def _first(self, clock: Clock, seconds: float) -> None:
        """The first weights: their loss, whether inputs matter, and overfitting one batch."""
        self.before()
        steps = self.steps[:FIRST]
        fits = self._fits(clock, seconds, steps)
        if fits is None:
            return
        self.facts.alike = self.watched.session.safely("units that are alike", self.alike)
        with fits.backend.held():
            fits.initial()
            fits.inputs()
            self.look(fits, steps)
            if self.leaves_zero_out():
                named = names_in(self.watched.session.sites.frames(), self.watched.session.script)
                self.facts.padding_word = self.watched.session.safely(
                    "numbers of words", padding_words.measure, map(self.arrays, steps), named, self.watched.session.script)
            self._restraints = self.watched.session.safely("what holds the model back", self.restraints, fits, steps) or []
            for restraint in self._restraints:
                if restraint.kind == "decay":
                    restraint.site = site(defaults.of("weight_decay", self.watched.session.script)) or restraint.site
            if self._may_fit("overfit"):
                fits.overfit()
        self._step_s = fits.step_s

    def _second(self, clock: Clock, seconds: float) -> None:
        """All watched steps: what they made of the weights, and what they would have at another rate."""
        fits = self._fits(clock, seconds, self.steps)
        if fits is None:
            return
        model, losses = self.watched.seen.model, self._losses()
        if model is not None:
            model.displacement = fits.displacement()
        with fits.backend.held():
            self.facts.alike = self.watched.session.safely("units that are alike", self.alike)
            self.facts.same_batch = self.watched.session.safely("one batch for all steps", self._same_batch)
            hasty = self.watched.session.safely("statistics of batches", self.hasty, fits)
            self.facts.hasty = hasty.measure(fits.now, list(map(fits.backend.rows, self.steps))) if hasty is not None else None
            self.facts.slow = self.watched.session.safely("statistics of the beginning", self._slow, fits)
            self.facts.ends_read = self.watched.session.safely("filler at the ends of rows", self.ends_read, fits)
            if self._may_fit("train"):
                held = restraints.Held(self.facts, self._restraints, fits, len(losses),
                                       constant_answer.of_numbers(self.watched.seen))  # while the weights are those of now
                rates = [step.learning_rate for step in self.watched.seen.steps if step.learning_rate is not None]
                calls = self.watched.seen.loss_calls
                fits.mean_rate = max(1.0, statistics.fmean(rates) / fits.backend.rate) if rates and fits.backend.rate else 1.0
                self.facts.undivided_rate = fits.mean_rate * fits.backend.rate
                self.facts.undivided = self.watched.session.safely("batches that are added up", self.undivided) or 0
                fits.train(losses, highest=max(rates) if used_up(rates) else None,  # these too
                           numbers=any(map(_of_numbers, calls)))
                held.measure(_RESTRAINT_SHARE * self.watched.session.budget.probe_seconds)
                self.further(fits, len(losses))
                self.facts.ordered = self.watched.session.safely("the order of rows", orders.measure, fits, self.steps, self.arrays,
                                                                 _ORDER_SHARE * self.watched.session.budget.probe_seconds)
                patience = _CARRY_SHARE * self.watched.session.budget.probe_seconds
                factor = carry.factor(self.facts, fits.step_s, patience)
                if factor is not None:
                    portions = [fits.backend.portion(step) for step in self.steps]
                    carry.measure(lambda fitted, held: fits.carry(fitted, held, patience, factor), portions, losses, self.facts)
            if model is not None:
                model.units = fits.units()

    def _slow(self, fits: Fits[S]) -> SlowFacts | None:
        steps = norms.planned(self.watched.seen)
        if steps is None or norms.measured_anew(self.watched.session.script):
            return None
        slow = self.slow(fits, *steps)
        return slow.measure(fits.now, len(self.steps)) if slow is not None else None


def used_up(rates: list[float]) -> bool:
    """Whether a schedule has taken the rate down to a hundredth early, and to a tenth for most of the steps."""
    highest = max(rates, default=0.0)
    if len(rates) < 2 * FIRST or rates.index(highest) > len(rates) // 4 or rates[-1] > 0.01 * highest:
        return False
    return sum(rate < 0.1 * highest for rate in rates) >= len(rates) // 2


def _of_numbers(call: LossCall) -> bool:
    """Whether numbers are learnt: by a loss that is known for it, or one that is written out of a difference of as many."""
    if call.name in ("mse", "l1"):
        return True
    given, wanted = call.inputs, call.target
    return (call.name == "other" and given is not None and wanted is not None and "float" in wanted.dtype
            and math.prod(given.shape) == math.prod(wanted.shape) > 1)
