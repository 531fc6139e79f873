"""Functions of a script's own that `tf.function` would compile: what it would keep of their first call, and make anew at later ones."""

from __future__ import annotations

import linecache
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import StaleFacts
from harness.frameworks.watch import written
from harness.frameworks.watch.keras_kept import Kept
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_TRACES = 60
_EVERY_S = 0.3


class Graphs:
    """Told of every call of such a function, which is run as plain Python while it is watched, and of the models that run in it."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._numbers_kept = Kept(watch.session)
        self._numbers: dict[int, tuple[int, set[Any]]] = {}
        self._kept: dict[Any, tuple[Any, list[Any]]] = {}  # by function and arguments: that function, and the models of its first call
        self._running: list[tuple[int, list[Any]]] = []
        self._training: set[int] = set()
        self._looked = 0.0

    def rests(self, function: Any) -> bool:
        """Whether a function that trains need not be looked into again yet, where training is no longer watched in full."""
        return id(function) in self._training and time.monotonic() - self._looked < _EVERY_S

    def stepped(self) -> None:
        """An optimizer has taken a step."""
        self._training |= {number for number, _ in self._running}

    def ran(self, model: Any) -> None:
        """A model is called."""
        for _, models in self._running:
            models.append(model)

    @contextmanager
    def called(self, function: Any, inner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[None]:
        """A call of a function, `inner` as it is written: what runs inside belongs to it."""
        session, code = self._watch.session, inner.__code__
        session.safely("numbers of a graph", self._numbers_kept.called, function, _key(function, args, kwargs), inner)
        session.safely("a function's traces", self._traces, function, code, args, kwargs)
        models: list[Any] = []
        self._looked = time.monotonic()
        self._running.append((id(function), models))
        try:
            yield
        finally:
            self._running.pop()
        session.safely("a function's graph", self._graph, function, code, args, kwargs, models)

    def _graph(self, function: Any, code: Any, args: tuple[Any, ...], kwargs: dict[str, Any], models: list[Any]) -> None:
        """A call that TensorFlow would take for one that it has a graph of does what the first did, with the model of that time."""
        seen = self._watch.seen
        if not models or seen.stale is not None or len(self._kept) > _TRACES:
            return
        _, first = self._kept.setdefault(_key(function, args, kwargs), (function, models))
        if first is not models and not any(model is known for model in models for known in first):
            place = self._watch.compiles.place_of(models[0])
            seen.stale = StaleFacts(function=code.co_name, model=site(place), site=site(self._made(code)))

    def _made(self, code: Any) -> Place:
        """Where the function is compiled: its decorator, or the script's only call of `tf.function`."""
        own = (code.co_filename, code.co_firstlineno, code.co_name)
        if linecache.getline(code.co_filename, code.co_firstlineno).lstrip().startswith("@"):
            return own
        return written.built("function", self._watch.session.script, self._watch.session.sites) or own

    def _traces(self, function: Any, code: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """TensorFlow would make a new graph of a function for each number of Python that it is given, and keep it."""
        numbers = tuple(part for part in (*args, *kwargs.values()) if isinstance(part, int | float) and not isinstance(part, bool))
        calls, seen = self._numbers.get(id(function), (0, set()))
        self._numbers[id(function)] = calls + 1, seen | {numbers} if len(seen) < _TRACES else seen
        memory = self._watch.seen.memory
        if numbers and len(seen) > memory.traces:
            memory.traces, memory.traced_calls = len(seen), calls
            place = self._watch.session.sites.place() or (code.co_filename, code.co_firstlineno, code.co_name)
            self._watch.session.site("traced", site(place))


def _key(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What TensorFlow tells the graphs of a function apart by."""
    return (id(function), *map(_kind, args), *((name, _kind(part)) for name, part in sorted(kwargs.items())))


def _kind(part: Any) -> Any:
    """What TensorFlow tells arguments apart by: shape and type of a tensor, the value of a number, which object it is."""
    shape, dtype = getattr(part, "shape", None), getattr(part, "dtype", None)
    if shape is not None and dtype is not None:
        return str(shape), str(dtype)
    if isinstance(part, list | tuple):
        return tuple(map(_kind, part))
    return part if isinstance(part, int | float | str | bool | None) else id(part)
