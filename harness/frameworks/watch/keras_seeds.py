"""Random numbers that are drawn from one and the same seed at every step: Keras and TensorFlow give the same ones each time."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_STATELESS, _OF_ROWS = "stateless_", "stateless_random_"
_OF_KERAS = ("normal", "uniform", "truncated_normal", "randint", "binomial", "beta", "gamma", "dropout", "shuffle")
_OFTEN = 3  # steps, one after the other


class Seeds:
    """Hooks the functions that are given a seed with each call. A number drawn so is meant to repeat where it is not made for the rows of a
    batch: a projection that stays as it is, say."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._drawn: dict[tuple[Place, str], set[int]] = {}  # the steps before which a loop drew there, by the seed

    def attach(self) -> None:
        self._watch.session.when_imported("keras.random", self._hook_keras)
        import tensorflow as tf

        for module in (tf.random, tf.image):
            for name in [name for name in dir(module) if name.startswith(_STATELESS)]:
                self._watch.session.patches.replace(module, name, functools.partial(self._wrap, rows=name.startswith(_OF_ROWS)))

    def _hook_keras(self, module: Any) -> None:
        for name in _OF_KERAS:
            self._watch.session.patches.replace(module, name, functools.partial(self._wrap, rows=name in ("dropout", "shuffle")))

    def _wrap(self, original: Any, *, rows: bool) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def draw(*args: Any, **kwargs: Any) -> Any:
            if self._watch.session.active:
                self._watch.session.safely("a draw", functools.partial(self._drew, rows=rows), signature, args, kwargs)
            return original(*args, **kwargs)

        return draw

    def _drew(self, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], *, rows: bool) -> None:
        """`rows`: it is drawn for rows in any case, and not of a shape, which comes first."""
        given = signature.bind(*args, **kwargs).arguments
        seed, shape = given.get("seed"), None if rows else next(iter(given.values()), None)
        session, phase = self._watch.session, self._watch.draws.tracing
        if "seeded" in session.observation.sites or not _constant(seed):
            return
        if shape is not None and phase != "drawn_in_map" and not self._of_rows(shape):
            return
        place = session.sites.place()
        if place is None:
            return
        steps, now = self._drawn.setdefault((place, str(seed)), set()), len(session.observation.steps)
        steps.add(now)
        if phase is not None or steps >= {now - number for number in range(_OFTEN)}:  # an evaluation comes now and then
            session.noted("seeded", place)

    def _of_rows(self, shape: Any) -> bool:
        """Whether a shape goes by a batch: it is read off a tensor while a step runs, or begins with as many rows."""
        if hasattr(shape, "dtype") or (isinstance(shape, list | tuple) and any(hasattr(size, "dtype") for size in shape)):
            return True
        sizes = list(shape) if isinstance(shape, list | tuple) or hasattr(shape, "rank") else []
        rows = {facts.shape[0] for batch in self._watch.seen.batches for facts in batch.columns.values() if facts.shape}
        return len(sizes) > 1 and sizes[0] in rows


def _constant(seed: Any) -> bool:
    return type(seed) is int or (isinstance(seed, list | tuple) and bool(seed) and all(type(part) is int for part in seed))
