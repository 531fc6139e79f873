"""What a loop with a tape tells its models of training, step by step: a flag that an evaluation takes down, and nobody puts up again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher


class Modes:
    """Told of every call of a model outside of `fit`, and of every step. Counts by the line of the call: one that is written with another
    answer (a second phase that keeps its statistics on purpose) is another line."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._since: dict[Place, set[bool]] = {}
        self._on: dict[Place, int] = {}
        self._evaluated: dict[Place, Place] = {}  # and the line that evaluates
        self._off: dict[Place, int] = {}
        self._steps: set[Place] = set()  # lines under way when a tape recorded

    def ran(self, training: Any, *, recorded: bool) -> None:
        """A model was called; `recorded`: under a tape."""
        stack = self._watch.session.sites.stack() if isinstance(training, bool) else ()
        if not stack:
            return
        if recorded:
            self._since.setdefault(stack[0], set()).add(training)
            self._steps.update(stack)
        elif not training and stack[0] in self._on:
            self._evaluated.setdefault(stack[0], next((place for place in stack if place not in self._steps), stack[0]))

    def stepped(self) -> None:
        """A step is over."""
        facts = self._watch.seen.evaluation
        for place, told in self._since.items():
            if True in told:
                self._on[place] = self._on.get(place, 0) + 1
            elif place in self._evaluated:
                self._off[place] = self._off.get(place, 0) + 1
                facts.told_off, facts.told_on = self._off[place], self._on[place]
                self._watch.session.noted("told_off", self._evaluated[place])
        self._since = {}
