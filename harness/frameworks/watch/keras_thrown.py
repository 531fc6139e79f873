"""Gradients of several batches in one step of TensorFlow, of which all but the last are for nothing: the sums are begun anew each time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.training_facts import ThrownFacts
from harness.frameworks.watch.keras_buffers import hook_steps
from harness.frameworks.watch.keras_trace import flat, numpy_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_CALLS, _OPERATIONS, _STEPS = 64, 20_000, 3
_SAMPLE, _LEAST, _NONE = 4000, 8, 1e-3  # numbers of a gradient; of the largest part


@dataclass
class _Call:
    """Gradients by the same weights, where they were asked for, and some numbers of these weights (None in a graph)."""

    sources: list[Any]
    found: list[Any]
    place: Place | None
    weights: np.ndarray[Any, Any] | None


class Thrown:
    """Wraps `GradientTape.gradient` and where optimizers step."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._calls: list[_Call] = []
        self._steps: list[int] = []  # calls before each step whose gradients but the last were for nothing
        self._over = False
        self._inside = 0

    def attach(self) -> None:
        """Hook TensorFlow."""
        import tensorflow as tf

        self._watch.session.patches.replace(tf.GradientTape, "gradient", self._wrap_gradient)

    def hook(self, keras: Any) -> None:
        """Hook the optimizers of a Keras."""
        hook_steps(keras, self._watch.session, self._wrap_apply)

    def _wrap_gradient(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def gradient(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(tape, target, sources, *args, **kwargs)
            if self._watch.session.active and not self._over and not self._inside:
                self._watch.session.safely("gradients of a step", self._came, sources, found)
            return found

        return gradient

    def _wrap_apply(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if args and self._watch.session.active and not self._over and not self._inside:
                given = args[0] if isinstance(args[0], list | tuple) else list(args[0])
                args = (given, *args[1:])
                self._watch.session.safely("gradients of a step", self._applied, list(given))
            self._inside += 1
            try:
                return original(optimizer, *args, **kwargs)
            finally:
                self._inside -= 1

        return apply

    def _came(self, sources: Any, found: Any) -> None:
        weights, gradients = flat(sources), flat(found)
        if len(self._calls) >= _CALLS or len(weights) != len(gradients) or not all(hasattr(part, "shape") for part in gradients):
            self._over = True  # too many to keep, or weights that got none
            return
        place = self._watch.session.sites.place()
        self._calls.append(_Call(weights, gradients, place, _numbers(weights[0]) if weights and hasattr(gradients[0], "numpy") else None))

    def _applied(self, given: list[Any]) -> None:
        calls, self._calls = self._calls, []
        parts = [part[0] if isinstance(part, tuple) else part for part in given]
        if len(calls) < 2:
            self._over = True  # one batch a step
            return
        one = all(call.place == calls[0].place and [*map(id, call.sources)] == [*map(id, calls[0].sources)] for call in calls)
        if not one or not all(hasattr(part, "shape") for part in parts):
            self._over = True
            return
        eager = calls[0].weights is not None
        lost = _lost_values(calls, parts) if eager else _lost_in_graph(calls, parts)
        if lost < len(calls) - 1:
            self._over = True
            return
        self._steps.append(len(calls))
        if len(self._steps) >= _STEPS or not eager:
            self._over = True
            self._watch.seen.thrown = ThrownFacts(backwards=self._steps, thrown=[count - 1 for count in self._steps],
                                                  site=site(calls[0].place))


def _numbers(part: Any) -> np.ndarray[Any, Any]:
    values: np.ndarray[Any, Any] = np.ravel(np.asarray(numpy_of(part), dtype=np.float64))[:_SAMPLE]
    return values


def _lost_values(calls: list[_Call], parts: list[Any]) -> int:
    """How many calls have no part in what is applied, a sum of multiples of gradients; 0 where the weights were moved between them, or it
    is no such sum."""
    first = calls[0].weights
    if any(call.weights is None or first is None or not np.array_equal(call.weights, first) for call in calls):
        return 0
    largest = max(range(len(parts)), key=lambda number: int(np.prod(parts[number].shape)))
    columns = np.stack([_numbers(call.found[largest]) for call in calls if largest < len(call.found)], 1)
    wanted = _numbers(parts[largest])
    if len(columns) != len(wanted) or len(wanted) < _LEAST * len(calls):
        return 0
    shares, *_ = np.linalg.lstsq(columns, wanted, rcond=None)
    if np.abs(columns @ shares - wanted).max() > _NONE * np.abs(wanted).max():
        return 0
    return int((np.abs(shares[:-1]) < _NONE * np.abs(shares[-1])).sum())


def _lost_in_graph(calls: list[_Call], parts: list[Any]) -> int:
    """How many calls but the last have gradients that neither what is applied nor any weight is made of."""
    owner = {tensor.name: number for number, call in enumerate(calls) for tensor in call.found}
    used, seen = set[int](), set[str]()
    stack = list(parts)
    while stack and len(seen) < _OPERATIONS:
        tensor = stack.pop()
        if tensor.name in owner:
            used.add(owner[tensor.name])
        elif tensor.name not in seen and getattr(tensor, "op", None) is not None:
            seen.add(tensor.name)
            stack.extend(tensor.op.inputs)
    for number, call in enumerate(calls):
        if number not in used and any(map(_assigned, call.found)):
            used.add(number)
    return len(calls) - 1 - len(used - {len(calls) - 1}) if len(calls) - 1 in used else 0


def _assigned(tensor: Any) -> bool:
    """Whether a variable is changed by what is made of a tensor."""
    stack, seen = [tensor], set[str]()
    while stack and len(seen) < _OPERATIONS:
        for operation in stack.pop().consumers():
            if operation.type.startswith(("Assign", "Resource")):
                return True
            if operation.name not in seen:
                seen.add(operation.name)
                stack.extend(operation.outputs)
    return False
