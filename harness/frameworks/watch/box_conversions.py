"""Functions of a script's own that bring boxes from one form to another: which form they read, and whether what they get can be of it.

They are asked about boxes that are made for it. Read in a wrong form, boxes that lie within a picture reach out of it.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.value_facts import BoxFacts
from harness.frameworks.watch import box_calls, tensors
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_CALLS, _ROWS, _OFF, _EXACT, _SIDE = 300, 4000, 1e-3, 1e-3, 4
Array = np.ndarray[Any, Any]


class Conversions:
    """Told of the calls of functions whose name speaks of a form."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._known: dict[Any, tuple[BoxFacts, dict[str, int]] | None] = {}
        self._calls = 0

    def heard(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        """`function` was called with these and returned what it `made`."""
        self._calls += 1
        shape = tuple(getattr(args[0], "shape", ())) if len(args) == 1 and not kwargs else ()
        if self._calls > _CALLS or not 1 < len(shape) <= 3 or shape[-1] != _SIDE or tuple(getattr(made, "shape", ())) != shape:
            return
        if not _given(args[0]) or box_calls.remembers(function):
            return
        key = function.__code__
        with self._session.paused():
            boxes = box_calls.plain(args[0]).reshape(-1, _SIDE)
            if key not in self._known:
                form = _form(function, args[0])
                facts = BoxFacts(form=form, function=function.__name__, converts=True, site=site(self._session.sites.direct()))
                self._known[key] = (facts, dict.fromkeys(box_calls.FORMS, 0)) if form else None
                if form:
                    self._session.observation.boxes.append(facts)
        known = self._known[key]
        if known is not None and known[0].rows < _ROWS:
            self._count(boxes[np.isfinite(boxes).all(1) & (np.abs(boxes).sum(1) > 0)], *known)

    @staticmethod
    def _count(boxes: Array, facts: BoxFacts, outside: dict[str, int]) -> None:
        if not boxes.size or float(boxes.max()) > 1:
            return  # only of shares of its sides it is known where a picture ends; anchors may well begin in front of it
        for name, read in box_calls.READ.items():
            corners = read(boxes)
            reach = (corners[:, :2] < -_EXACT) | (corners[:, 2:] > 1 + _EXACT) | (corners[:, 2:] <= corners[:, :2])
            outside[name] += int(reach.any(1).sum())
        facts.rows += len(boxes)
        facts.outside = outside[facts.form]
        facts.fits = [name for name, count in outside.items() if not count]


def _given(value: Any) -> bool:
    """Whether boxes are data, and nothing that a model has answered: no gradient leads to them where gradients are taken."""
    if isinstance(value, np.ndarray):
        return True
    if not tensors.is_tensor(value):
        return False
    import torch

    return torch.is_grad_enabled() and not value.requires_grad and value.is_floating_point()


def _form(function: Any, value: Any) -> str:
    """The form that a function reads, where it makes another form of it and of no other; empty where it does not."""
    corners = box_calls.telling()[0]
    found = []
    for name, form in box_calls.FORMS.items():
        with contextlib.suppress(Exception):  # a function that refuses made boxes is not told by them
            said = box_calls.plain(function(box_calls.like(form(corners).reshape(1, -1, _SIDE) if len(value.shape) > 2 else form(corners),
                                                           value))).reshape(-1, _SIDE)
            found += [name for other, made in box_calls.FORMS.items()
                      if other != name and said.shape == corners.shape and np.abs(said - made(corners)).max() < _OFF]
    return found[0] if len(found) == 1 else ""
