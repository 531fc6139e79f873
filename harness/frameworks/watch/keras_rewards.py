"""Loops with a tape that learn from rewards: policies, and values that are learnt from later values of the same model."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import bootstrap, endings, keras_policy, over_ends, transitions, whole_best
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_ANSWERS = 6


def went_back(watch: KerasWatcher, tape: Any, target: Any, forwards: list[Any]) -> None:
    """A tape was asked for a gradient. `forwards`: model, arguments and answer of those that ran under it."""
    session = watch.session
    session.safely("a policy", keras_policy.went_back, watch, tape, target, [made for *_, made in forwards])
    session.safely("a value", _value, watch, tape, target, forwards)
    session.safely("the end of an episode", endings.note, watch.seen, session.sites, _array)
    session.safely("returns over ends", over_ends.note, watch.seen, session.sites, _array)
    session.safely("transitions", transitions.note, watch.seen, session.sites)
    session.safely("a best value", whole_best.note, watch.seen, session.sites, _array)


def _array(value: Any) -> np.ndarray[Any, Any] | None:
    return numpy_of(value) if hasattr(value, "numpy") or isinstance(value, np.ndarray) else None


def _value(watch: KerasWatcher, tape: Any, target: Any, forwards: list[Any]) -> None:
    """What a loss makes of two answers of one model."""
    if not tape._persistent:
        return
    answers = [(model, made) for model, *_, made in forwards if getattr(getattr(made, "shape", None), "rank", None) in (1, 2)][:_ANSWERS]
    for (first, one), (second, other) in itertools.combinations(answers, 2):
        if first is second and one.shape == other.shape:
            with watch.session.paused():
                parts = tape.gradient(target, [one, other])
            if all(part is not None for part in parts):
                bootstrap.note(watch.seen, watch.session.sites, *(np.asarray(numpy_of(part)) for part in parts))
