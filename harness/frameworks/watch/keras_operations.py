"""The operation in which the first NaN or infinity of an eager TensorFlow step is born, with the line that called it.

TensorFlow tells a callback of every operation that runs eagerly. What a loss was made of by hand, with no layer or loss object to look
into, is seen so only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.model_facts import BadBirth
from harness.frameworks.watch import tensors
from harness.frameworks.watch.keras_tape import recorded
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_MOST = 20_000  # operations of one step that are kept until its gradient is asked for
# An infinity out of these is meant: it masks.
_CHOOSING = ("Select", "SelectV2", "Fill", "Cast", "ScatterNd", "TensorScatterUpdate")


@dataclass
class Operation:
    """One that ran: its kind (`Log`), what it was given and gave, and where the script called it."""

    kind: str
    given: list[Any]
    made: list[Any]
    place: Place | None


@contextlib.contextmanager
def listening(operations: list[Operation], place: Callable[[], Place | None]) -> Iterator[None]:
    """Keep every eager operation that makes floats, while inside."""
    from tensorflow.python.framework import op_callbacks

    def heard(op_type: Any, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        del op_name
        if graph is None and len(operations) < _MOST and any(output.dtype.is_floating for output in outputs):
            kind = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
            operations.append(Operation(kind, list(inputs), list(outputs), place()))

    op_callbacks.add_op_callback(heard)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(heard)


def birth(operations: list[Operation]) -> Operation | None:
    """The first operation that makes a NaN of what holds none; where that is an infinity of before (`0 * log(0)`), the one that made it."""
    first = next((found for found in operations if _any(np.isnan, found.made) and not _any(np.isnan, found.given)), None)
    if first is None:
        return next((found for found in operations if _any(np.isinf, found.made) and not _any(_bad, found.given)), None)
    made = {id(output): found for found in operations for output in found.made}
    sources = [made[id(part)] for part in first.given if id(part) in made and _any(np.isinf, [part])]
    while sources and any(_any(_bad, found.given) for found in sources):
        sources = [made[id(part)] for found in sources for part in found.given if id(part) in made and _any(np.isinf, [part])]
    source = next(iter(sources), None)
    return first if source is None or source.kind in _CHOOSING or source.place is None else source


def found_in(operations: list[Operation], step: int) -> BadBirth | None:
    """That operation, as a fact of a step."""
    found = birth(operations)
    if found is None:
        return None
    made = np.asarray(numpy_of(found.made[0]))
    return BadBirth(step=step, what="loss", name=found.kind, rows=tensors.bad_rows(made) if made.ndim else [], site=site(found.place))


class Operations:
    """Told of the tapes of a script's own loop; looks for where a loss that is no number was born."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._heard: list[Operation] = []
        self._listening = contextlib.ExitStack()
        self._found: BadBirth | None = None
        self._again: tuple[Any, int] = None, 0

    def attach(self) -> None:
        """Hook tapes: before everything else that asks them."""
        import tensorflow as tf

        self._watch.session.patches.replace(tf.GradientTape, "__enter__", self._wrap_enter)
        self._watch.session.patches.replace(tf.GradientTape, "gradient", self._wrap_gradient)
        self._watch.session.patches.calling(self._end)  # a tape may be open when the hooks go

    @property
    def _looking(self) -> bool:
        import tensorflow as tf

        return self._watch.session.active and not self._watch.fitting and tf.executing_eagerly()

    def _wrap_enter(self, original: Any) -> Any:
        def __enter__(tape: Any) -> Any:  # noqa: N807
            if self._looking and not recorded():
                self._watch.session.safely("operations", self._begins)
            if self._looking and tape._persistent and tape._tape is not None:  # it goes on where it was
                self._watch.session.safely("a tape", self._goes_on, tape)
            return original(tape)

        return __enter__

    def _wrap_gradient(self, original: Any) -> Any:
        def gradient(tape: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            if self._looking:
                self._watch.session.safely("operations", self._asked, target)
            return original(tape, target, *args, **kwargs)

        return gradient

    def _goes_on(self, tape: Any) -> None:
        known, times = self._again
        self._again = tape, times + 1 if known is tape else 1
        memory = self._watch.seen.memory
        memory.reentered = max(memory.reentered, self._again[1])
        self._watch.session.site("reentered")

    def _begins(self) -> None:
        self._conclude()
        if self._watch.in_full and not self._watch.seen.births:
            self._end()
            self._listening.enter_context(listening(self._heard, self._watch.session.sites.place))

    def _asked(self, target: Any) -> None:
        import tensorflow as tf

        heard = list(self._heard)
        self._end()
        known = [numpy_of(part) for part in tf.nest.flatten(target) if tf.is_tensor(part)]
        if self._found is None and any(_bad(part).any() for part in known):
            self._found = found_in(heard, len(self._watch.seen.steps) + 1)

    def finish(self) -> None:
        """The script is over."""
        self._end()
        self._conclude()

    def _end(self) -> None:
        self._listening.close()
        self._heard.clear()

    def _conclude(self) -> None:
        """What was found counts where nothing that looks into layers has found more by the next step."""
        if self._found is not None and not self._watch.seen.births:
            self._watch.seen.births.append(self._found)


def _bad(values: Any) -> Any:
    return ~np.isfinite(values)


def _any(test: Callable[[Any], Any], parts: list[Any]) -> bool:
    """Whether a test holds anywhere in what these tensors hold of floats."""
    floats = (part for part in parts if getattr(part, "dtype", None) is not None and getattr(part.dtype, "is_floating", False))
    return any(bool(np.any(test(numpy_of(part).astype(np.float64)))) for part in floats)
