"""Functions of a script's own that work on boxes: in which form one of overlap reads them, and which boxes one of suppression keeps.

Both are told by trial: a function of overlap is asked about boxes whose overlap is known, one of suppression has to keep the best of all.
"""

from __future__ import annotations

import ast
import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.value_facts import BoxFacts, SuppressionFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.checks.tensor_facts import Site
    from harness.frameworks.watch.session import WatchSession

_CALLS, _ROWS, _BOXES, _DRAWN = 300, 4000, 5, 2000
_NEAR, _FAR = 0.04, 0.12  # of an overlap: whole pixels may be counted with their borders

Array = np.ndarray[Any, Any]
FORMS: dict[str, Callable[[Array], Array]] = {
    "corners": lambda box: box,
    "sized": lambda box: np.concatenate([box[..., :2], box[..., 2:] - box[..., :2]], -1),
    "centred": lambda box: np.concatenate([(box[..., :2] + box[..., 2:]) / 2, box[..., 2:] - box[..., :2]], -1),
}
READ: dict[str, Callable[[Array], Array]] = {
    "corners": lambda box: box,
    "sized": lambda box: np.concatenate([box[..., :2], box[..., :2] + box[..., 2:]], -1),
    "centred": lambda box: np.concatenate([box[..., :2] - box[..., 2:] / 2, box[..., :2] + box[..., 2:] / 2], -1),
}


class Overlaps:
    """Told of the calls of functions that measure how far boxes overlap."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._known: dict[Any, BoxFacts | None] = {}
        self._counted: dict[Any, list[list[int]]] = {}
        self._calls = 0

    def heard(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        """`function` was called with these and returned what it `made`."""
        self._calls += 1
        if self._calls > _CALLS:
            return
        places = [place for place, value in enumerate(args) if _of_boxes(value)][:2]
        if len(places) != 2 or remembers(function):
            return
        key = getattr(function, "__code__", getattr(function, "__func__", function))
        with self._session.paused():
            boxes = [plain(args[place]) for place in places]
            if key not in self._known:
                form = _form(function, args, kwargs, places, max(float(np.abs(box).max()) for box in boxes))
                self._known[key], self._counted[key] = self._begun(function, form), [[0, 0], [0, 0]]
        facts, counted = self._known[key], self._counted[key]
        if facts is None or facts.rows > _ROWS:
            return
        for count, box in zip(counted, boxes, strict=True):
            rows = box.reshape(-1, 4)
            rows = rows[np.isfinite(rows).all(1) & (np.abs(rows).sum(1) > 0)]
            count[0] += len(rows)
            count[1] += int(((rows[:, 2] < rows[:, 0]) | (rows[:, 3] < rows[:, 1])).sum())
        facts.rows, facts.reversed = min(counted, key=lambda count: count[1] / max(count[0], 1))

    def _begun(self, function: Any, form: str | None) -> BoxFacts | None:
        if form is None:
            return None
        facts = BoxFacts(form=form, function=function.__name__, site=_first(function, _takes_apart))
        self._session.observation.boxes.append(facts)
        return facts


def remembers(function: Any) -> bool:
    """Whether a function may keep what it is asked: it belongs to an object, or writes to something that it has not made."""
    code = getattr(function, "__code__", None)
    return code is None or bool(getattr(function, "__self__", None)) or bool({"append", "update", "add", "extend"} & set(code.co_names))


def _of_boxes(value: Any) -> bool:
    shape = getattr(value, "shape", None)
    if shape is None:
        return isinstance(value, Sequence) and len(value) == 4 and all(isinstance(part, int | float | np.number) for part in value)
    return 1 <= len(shape) <= 2 and shape[-1] == 4


def plain(value: Any) -> Array:
    found = tensors.array(value) if hasattr(value, "shape") else None
    plain: Array = np.asarray(value if found is None else found, np.float64)
    return plain


def like(boxes: Array, value: Any) -> Any:
    """Boxes in the container of a value."""
    if tensors.is_tensor(value):
        return value.detach().new_tensor(boxes) if value.is_floating_point() else value.new_tensor(np.round(boxes))
    if isinstance(value, np.ndarray):
        return boxes.astype(value.dtype)
    if hasattr(value, "shape"):
        import tensorflow as tf

        return tf.constant(boxes, value.dtype)
    return type(value)(boxes.tolist())


def _form(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], places: list[int], scale: float) -> str | None:
    """The form in which a function reads boxes: the one in which it answers right, where it does in one alone."""
    corners = telling() * max(scale, 1e-6)
    flat = [np.ndim(args[place]) == 1 for place in places]
    errors = {}
    for name, form in FORMS.items():
        given = list(args)
        for place, single, boxes in zip(places, flat, corners, strict=True):
            given[place] = like(form(boxes[0] if single else boxes), args[place])
        errors[name] = np.inf
        with contextlib.suppress(Exception):  # a function that refuses made boxes is not told by them
            said = plain(function(*given, **kwargs))
            errors[name] = min(_off(said, right) for right in _right(corners, flat))
    best = min(errors, key=lambda name: errors[name])
    others = [error for name, error in errors.items() if name != best]
    return best if errors[best] < _NEAR and min(others) > _FAR else None


@functools.cache
def telling() -> Array:
    """Pairs of boxes, float[2, pairs, 4] between 0 and 1 by their corners, whose overlap is another one in whatever form but their own they
    are read."""
    drawn = np.random.default_rng(0).uniform(0, 1, (2, _DRAWN, 4))
    corners = np.concatenate([0.6 * drawn[..., :2], 0.6 * drawn[..., :2] + 0.1 + 0.3 * drawn[..., 2:]], -1)
    right = _shares(*corners)[0]
    misread = [np.abs(_shares(*read(form(corners)))[0] - right)
               for name, form in FORMS.items() for other, read in READ.items() if name != other]
    told: Array = corners[:, np.argsort(np.minimum.reduce(misread))[-_BOXES:]]
    return told


def _shares(one: Array, other: Array) -> tuple[Array, Array]:
    """How much of what two boxes fill both do, and the same less the part of the box around both that neither fills."""
    low, high = np.maximum(one[..., :2], other[..., :2]), np.minimum(one[..., 2:], other[..., 2:])
    both = np.prod(np.clip(high - low, 0, None), -1)
    union = np.prod(one[..., 2:] - one[..., :2], -1) + np.prod(other[..., 2:] - other[..., :2], -1) - both
    around = np.prod(np.maximum(one[..., 2:], other[..., 2:]) - np.minimum(one[..., :2], other[..., :2]), -1)
    with np.errstate(all="ignore"):
        return both / union, both / union - (around - union) / around


def _off(said: Array, right: Array) -> float:
    if said.size not in (right.size, 1):
        return np.inf
    one, other = (said, right) if said.size == right.size else (said, right.mean())
    found = float(np.abs(one.reshape(-1) - other.reshape(-1)).mean())
    return found if np.isfinite(found) else np.inf


def _right(corners: Array, flat: list[bool]) -> list[Array]:
    """What functions of overlap may say of two sets of boxes: row by row or of all pairs, the overlap or what it lacks to 1, as such or
    less the part of the surrounding box that neither fills."""
    one, other = (boxes[:1] if single else boxes for boxes, single in zip(corners, flat, strict=True))
    found = []
    for first, second in ((one, other), (one[:, None], other[None])):
        for share in _shares(first, second):
            found += [share, 1 - share]
    return found


class Suppressions:
    """Told of the calls of functions that keep the best of boxes that overlap."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._known: dict[str, SuppressionFacts] = {}
        self._calls = 0

    def heard(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
        """`function` was called with these and returned what it `made`."""
        self._calls += 1
        given = [*args, *kwargs.values()]
        tables = [value for value in given if len(getattr(value, "shape", ())) == 2 and value.shape[-1] in (4, 5, 6)]
        if self._calls > _CALLS or not tables:
            return
        with self._session.paused():
            boxes = plain(tables[0])
            scores = next((plain(value) for value in given if getattr(value, "shape", None) is not None
                           and tuple(value.shape) == (len(boxes),)), boxes[:, 4] if boxes.shape[1] == 5 else None)
            kept = _kept(made, boxes)
        if scores is None or kept is None or len(boxes) < 2 or not len(kept) or np.sort(scores)[-1] == np.sort(scores)[-2]:
            return
        name = function.__name__
        if name not in self._known:
            self._known[name] = SuppressionFacts(function=name, site=_first(function, _orders) or site(self._session.sites.direct()))
            self._session.observation.suppressions.append(self._known[name])
        facts = self._known[name]
        facts.calls += 1
        facts.without_best += int(scores.argmax()) not in kept


def _kept(made: Any, boxes: Array) -> set[int] | None:
    """The numbers of the boxes that are kept, where these, a mask, or the boxes themselves came out."""
    first = made[0] if isinstance(made, tuple) and made else made
    numbers = isinstance(first, list) and all(np.ndim(part) == 0 for part in first)
    found = np.asarray([int(part) for part in first]) if numbers else plain(first)
    if found.ndim == 1 and found.size == len(boxes) and set(np.unique(found)) <= {0.0, 1.0} and len(boxes) > 2:
        return set(np.flatnonzero(found).tolist())
    if found.ndim == 1 and len(set(found.tolist())) == len(found) <= len(boxes) and (found == np.round(found)).all() and (
            not found.size or 0 <= found.min() <= found.max() < len(boxes)):
        return {int(part) for part in found}
    if found.ndim == 2 and found.shape[1] == boxes.shape[1]:
        return {number for number, box in enumerate(boxes) if (np.abs(found - box) < 1e-9).all(1).any()}
    return None


def _first(function: Any, wanted: Callable[[ast.AST], bool]) -> Site | None:
    """The first line of a function of the script's with something that is wanted."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    found = parsed.function(parsed.tree(code.co_filename), code.co_name, code.co_firstlineno)
    lines = [getattr(node, "lineno", 0) for part in (found.body if found is not None else []) for node in ast.walk(part) if wanted(node)]
    return site((code.co_filename, min(lines), code.co_name)) if lines else None


def _takes_apart(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript | ast.Tuple | ast.Call)


def _orders(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and name_of(node.func) in ("argsort", "sort", "sorted", "topk", "argmax", "argmin")
