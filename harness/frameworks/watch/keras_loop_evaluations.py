"""Evaluations in loops with a tape of their own: what runs where no tape records, and under tapes that nobody asks for a gradient, by the
function that training goes through too."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.frameworks.watch.samples import Samples

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.keras_watch import KerasWatcher

_OPEN, _LEAST = 4, 2


class Forward(NamedTuple):
    """A trained model that runs: its arguments, what it is told of the mode, and where."""

    args: tuple[Any, ...]
    training: Any
    place: Site | None


class Evaluations:
    """Told of tapes that are entered and of forward passes; counts evaluations and their mode."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._open: dict[int, tuple[weakref.ref[Any], list[Forward]]] = {}
        self._gone: list[Forward] = []
        self._under_tapes = 0
        self._samples = Samples()

    def attach(self) -> None:
        """Hook what a tape can be asked."""
        import tensorflow as tf

        for name in ("gradient", "jacobian", "batch_jacobian"):
            self._watch.session.patches.replace(tf.GradientTape, name, self._wrap)

    def _wrap(self, original: Any) -> Any:
        @functools.wraps(original)
        def ask(tape: Any, *args: Any, **kwargs: Any) -> Any:
            self._open.pop(id(tape), None)
            return original(tape, *args, **kwargs)

        return ask

    def entered(self, tape: Any) -> None:
        """A tape begins to record; to be called where no other one does."""
        self._settle()
        number = id(tape)

        def gone(_: Any) -> None:
            self._gone += self._open.pop(number, (None, []))[1]

        if len(self._open) < _OPEN:
            self._open[number] = weakref.ref(tape, gone), []

    def recorded(self, forward: Forward) -> None:
        """A model runs under the tapes that are open."""
        for _, forwards in self._open.values():
            if len(forwards) < _OPEN:
                forwards.append(forward)

    def trains(self) -> None:
        """A model runs to be trained."""
        self._samples.over()

    def ran(self, forward: Forward) -> None:
        """A model runs where no tape records."""
        self._count(forward)
        self._watch.session.site("evaluation")
        self._watch.session.reach("evaluation")

    def _settle(self) -> None:
        """Count what ran under tapes that are gone. Of one alone nothing is said: it may look at a model before it is trained further."""
        found, self._gone = self._gone, []
        for forward in found:
            self._under_tapes += 1
            if self._under_tapes >= _LEAST:
                self._watch.session.site("train_mode" if self._count(forward) else "evaluation", forward.place)

    def _count(self, forward: Forward) -> bool:
        """Whether it ran in training mode, where that makes a difference."""
        import tensorflow as tf

        facts, known = self._watch.seen.evaluation, self._watch.seen.model
        facts.forwards += 1
        if forward.training is not True or known is None or not known.stochastic:
            return False
        facts.in_training_mode += 1
        facts.sampled += self._samples.asked(tf.nest.flatten(forward.args))
        return True
