"""Schedules of the learning rate: where they are made and stepped, and what they plan."""

from __future__ import annotations

import copy
import functools
import itertools
import statistics
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.checks.model_facts import CycleFacts, SeldomFacts
from harness.frameworks.watch import compounding, monitors, unread, written
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_LONGEST = 10_000_000
_LOW, _FOLLOWED = 0.05, 2000
_NOTHING = 1e-6  # of the highest rate
_TOLD, _PER_STEP = 20, 0.9  # steps of a schedule; of it by each of the optimizer's
_SURE = 3  # steps of a schedule that tell that it goes with the optimizer
_SEVERAL = 1.5  # of it to one of the optimizer's


def _lengths(schedule: Any) -> list[int]:
    """The numbers of steps that a schedule, whose common constructor is about to run, was made with: its own, and those of its shapes."""
    shapes = [shape for shape in getattr(schedule, "lr_lambdas", None) or () if isinstance(shape, functools.partial)]
    given = [*vars(schedule).values(), *(value for shape in shapes for value in shape.keywords.values())]
    return [value for value in given if type(value) is int and value > 1]


def _rate_of(optimizer: Any) -> float | None:
    groups = vars(optimizer).get("param_groups")  # not there yet while it is made
    return float(groups[0]["lr"]) if groups and "lr" in groups[0] else None


class Schedules:
    """Hooks `LRScheduler`."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._last: Any = None
        self._stepped = 0
        self._given = self._highest = 0.0  # by it so far: all rates together, and the highest
        self._alive = 0  # its last step that left a rate
        self._first = 0  # steps of the optimizer before the schedule's first
        self._turn = (0, 0)  # steps of the optimizer at the last change of these, and the schedule's before that
        self._turns = 0  # steps of the schedule that came after another one of the optimizer
        self._before = 0  # steps of the schedule that were not seen: it goes on from a checkpoint

    def attach(self) -> None:
        unread.attach(self._watch.session, self._watch.torch.optim.Optimizer, "torch.optim", _rate_of)
        schedule = self._watch.torch.optim.lr_scheduler.LRScheduler
        self._watch.session.patches.replace(schedule, "__init__", self._wrap_init)
        self._watch.session.patches.replace(schedule, "step", self._wrap_step)
        self._watch.session.patches.replace(self._watch.torch.optim.lr_scheduler.ReduceLROnPlateau, "step", self._wrap_plateau)

    def _wrap_init(self, original: Any) -> Any:
        session = self._watch.session

        def __init__(schedule: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            if session.active and "schedule_made" not in self._watch.seen.sites:
                place = session.sites.origin(_lengths(schedule), skip=schedule)
                session.safely("a schedule", lambda: session.site("schedule_made", site(place)))
            original(schedule, *args, **kwargs)
            if session.active:
                self._last = schedule  # of several the outermost is made last; a function that has returned holds it no more

        return __init__

    def _wrap_step(self, original: Any) -> Any:
        session = self._watch.session

        @functools.wraps(original)
        def step(schedule: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active and self._watch.steps.steps and "schedule" not in self._watch.seen.sites:
                session.safely("a schedule", session.site, "schedule")
                session.safely("a schedule", self._planned, schedule)
            if session.active and self._watch.steps.steps and schedule is self._last:
                if self._watch.steps.steps != self._turn[0]:
                    self._turn = self._watch.steps.steps, self._stepped
                    self._turns += self._watch.seen.truncated_at is None  # afterwards epochs are cut short
                self._stepped += 1
                self._before = self._before or max(0, int(getattr(schedule, "last_epoch", 0)) + 1 - self._stepped)
                self._first = self._first or self._watch.steps.steps
                if self._stepped == _TOLD:
                    session.safely("a schedule's length", self._whole_batches, schedule)
            made = original(schedule, *args, **kwargs)
            if session.active and schedule is self._last:
                rate = session.safely("a schedule's rate", _rate_of, schedule.optimizer) or 0.0
                self._given, self._highest = self._given + rate, max(self._highest, rate)
                self._alive = self._stepped if rate > _NOTHING * self._highest else self._alive
            return made

        return step

    def _wrap_plateau(self, original: Any) -> Any:
        session = self._watch.session

        @functools.wraps(original)
        def step(schedule: Any, *args: Any, **kwargs: Any) -> Any:
            if session.active:
                session.safely("a plateau", monitors.of_plateau, session, schedule, session.sites.place())
            return original(schedule, *args, **kwargs)

        return step

    def finish(self) -> None:
        """Where all steps were taken at a small part of the rate that was asked for: how long the schedule takes to raise it."""
        schedule: Any = self._last
        facts = self._watch.seen.optimizer
        rates = [step.learning_rate for step in self._watch.seen.steps]
        main = self._watch.steps.main
        if schedule is not None and main is not None and schedule.optimizer is main.optimizer and self._stepped:
            self._watch.session.safely("a schedule's factors", compounding.of_torch, self._watch.session, schedule)
        if schedule is None or facts is None or main is None or not rates or schedule.optimizer is not main.optimizer:
            return
        if self._stepped >= _TOLD and self._turn[0] > self._first:
            facts.often = self._turn[1] / (self._turn[0] - self._first)
        asked = float(schedule.optimizer.param_groups[0].get("initial_lr", 0.0))
        self._watch.session.safely("what a schedule leaves", self._left, schedule, asked, [rate for rate in rates if rate is not None])
        total, top = getattr(schedule, "total_steps", None), float(schedule.optimizer.param_groups[0].get("max_lr") or 0.0)
        if type(total) is int and top and self._stepped and not self._before:
            facts.seldom = SeldomFacts(total=total, made=self._stepped, every=self._first, top=top,
                                       reached=max(self._highest, *(rate for rate in rates if rate is not None)) / top)
        before = self._before if self._stepped else int(getattr(schedule, "last_epoch", 0))
        if not before and asked > 0 and all(rate is not None and rate < _LOW * asked for rate in rates):
            # Later on, steps may be taken that are not watched.
            facts.taken, facts.schedule_steps = (self._first, 1) if self._stepped else (self._watch.steps.steps, 0)
            facts.asked_rate = asked
            facts.climb, facts.climb_peak = _climb(self._watch.torch, schedule, 0.5 * asked)
            self._watch.session.safely("a schedule's shape", self._shaped, schedule)

    def _left(self, schedule: Any, asked: float, rates: list[float]) -> None:
        """What all planned steps are worth together at the rates that a schedule, stepped with each of them, gives."""
        facts, taken = self._watch.seen.optimizer, self._watch.steps.steps
        whole = (self._watch.seen.truncated_at or taken) - self._first
        if facts is None or not asked or not facts.training_steps or self._turns < _PER_STEP * whole:
            return
        if self._turns < _SURE < self._first:
            return  # it has just begun, after steps without it: how often it will be stepped is not known
        # Loops are counted batch by batch, of which an optimizer's step may take several.
        of_a_step = [step.backwards or 1 for step in self._watch.seen.steps]
        total = facts.training_steps if self._watch.seen.trainer else facts.training_steps // max(1, round(statistics.median(of_a_step)))
        left = max(0, min(facts.training_steps - taken, _FOLLOWED))
        first = rates[0] if rates else asked
        onward = list(itertools.islice(_rates(self._watch.torch, schedule), left))
        # The steps that a cycle was made for need not be those that the script takes.
        top = schedule.optimizer.param_groups[0].get("max_lr")
        if top and facts.planned_peak is None and facts.training_steps <= taken + left:
            facts.planned_steps, facts.planned_peak = facts.training_steps, max([first, self._highest, *onward]) / float(top)
        gone = next((number for number, rate in reversed(list(enumerate(onward, 1))) if rate > _NOTHING * max(self._highest, first)), 0)
        often = max(1.0, facts.often or 1.0)
        if gone < min(left, often * (total - taken)):
            over = 0 if gone else self._stepped - self._alive  # steps of now that were taken without a rate
            # By its own steps where it takes several to one of the optimizer's, some of which may have come after the last of those.
            of_its_own = self._stepped + gone + self._before if gone else self._alive + self._before + 1
            facts.used_up = (int(of_its_own / often) if often > _SEVERAL else taken + gone - over) + 1, total
        # Those beyond are taken to go on as these do on average.
        further = sum(onward) * max(0, facts.training_steps - taken) / left if left else 0.0
        facts.worth = (first + self._given + further) / asked

    def _whole_batches(self, schedule: Any) -> None:
        """A cycle that refuses to go on after its last step, counted in whole batches where a shorter one ends each epoch."""
        loader, total = self._watch.data.training_loader, getattr(schedule, "total_steps", None)
        known = loader.facts if loader is not None else None
        facts = self._watch.seen.optimizer
        if type(schedule).__name__ != "OneCycleLR" or facts is None or known is None or not total:
            return
        if not (known.rows and known.batch_size and known.batches):
            return
        whole = known.rows // known.batch_size
        # Stepped with the optimizer, and for more than one epoch: for a single one the two numbers may differ on purpose.
        if known.batches == whole + 1 and total % whole == 0 and total > whole and total % known.batches and self._stepped >= _PER_STEP * (
                self._watch.steps.steps):
            place = self._watch.seen.sites.get("schedule_made")
            facts.cycle = CycleFacts(total=total, batches=known.batches, rows=known.rows, batch_size=known.batch_size, site=place)

    def _shaped(self, schedule: Any) -> None:
        """Where a function of the script's own says what becomes of the rate."""
        code = getattr(next(iter(getattr(schedule, "lr_lambdas", None) or ()), None), "__code__", None)
        place = written.returns(code, self._watch.session.sites) if code is not None else None
        if place is not None:
            self._watch.session.site("schedule_shape", site(place))

    def _planned(self, schedule: Any) -> None:
        """What a schedule that knows the length of the training makes of the rate in that time."""
        shape = next(iter(getattr(schedule, "lr_lambdas", None) or ()), None)
        total = getattr(shape, "keywords", {}).get("num_training_steps")
        if self._watch.seen.optimizer is not None and shape is not None and isinstance(total, int) and 0 < total < _LONGEST:
            self._watch.seen.optimizer.planned_steps = total
            self._watch.seen.optimizer.planned_peak = max(float(shape(step)) for step in range(0, total, max(1, total // 1000)))


def _climb(torch: Any, schedule: Any, rate: float) -> tuple[int, float]:
    """After how many further steps a schedule first gives a rate, and its highest until then: followed on a copy, whose optimizer holds
    nothing."""
    peak = 0.0
    for number, given in enumerate(itertools.islice(_rates(torch, schedule), _FOLLOWED)):
        peak = max(peak, given)
        if peak >= rate:
            return number, peak
    return _FOLLOWED, peak


def _rates(torch: Any, schedule: Any) -> Iterator[float]:
    """The rates that a schedule goes on to give, step by step, without an end."""
    held = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    held.param_groups = [{**group, "params": []} for group in schedule.optimizer.param_groups]
    followed = copy.deepcopy(schedule, {id(schedule.optimizer): held})
    while True:
        yield float(held.param_groups[0]["lr"])
        with warnings.catch_warnings(action="ignore"):
            followed.step()
