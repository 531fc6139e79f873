"""Datasets that a model answers for with `predict`, and the labels that its answers are held against."""

from __future__ import annotations

import contextlib
import time
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import passes
from harness.frameworks.watch.keras_classes import classes_of
from harness.frameworks.watch.keras_data import chain_of, class_ids
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_KEPT, _SECONDS = 20, 3.0
# What makes another dataset of a dataset's rows: a few of them, or two datasets in one.
_OTHER = ("Take", "Skip", "Zip", "Concatenate", "Filter")
# A dataset and what it was made of, outermost first: weak, with their kinds, for many a dataset lives in one expression only.
_Part = tuple[Any, str]


@dataclass
class _Asked:
    """A dataset that `predict` was given, and the classes that it answered. `held`: they were compared with references."""

    chain: list[_Part]
    place: Place | None
    answers: list[int] | None = None
    held: bool = False


@dataclass
class _Read:
    """A dataset that the script goes over itself; `whole`: to its end."""

    chain: list[_Part]
    place: Place | None
    iterator: Any
    whole: bool = False


class Passes:
    """Wraps the iteration of `tf.data.Dataset`; is told what is predicted, and what is compared."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._inside = 0
        self._asked: deque[_Asked] = deque(maxlen=_KEPT)
        self._read: deque[_Read] = deque(maxlen=_KEPT)
        watch.session.comparisons.append(self._compared)

    def attach(self) -> None:
        import tensorflow as tf
        from tensorflow.python.data.ops import iterator_ops

        replace = self._watch.session.patches.replace
        replace(tf.data.Dataset, "__iter__", self._wrap_iter)
        replace(iterator_ops.OwnedIterator, "__next__", self._wrap_next)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """While inside, it is Keras that reads."""
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    def asked(self, data: Any, place: Place | None, made: Any) -> None:
        """`predict` was given `data`, and `made` came out."""
        if not hasattr(data, "element_spec"):
            return
        call = next(iter(self._watch.seen.loss_calls), None)
        answers = classes_of(made, call.name, logits=bool(call.from_logits)) if call is not None else None
        self._asked.append(_Asked(_parts(data), place, answers))

    def _compared(self, answers: Any, references: Any) -> None:
        """Answers are compared with references, row by row."""
        given = passes.rows_of(answers)
        for asked in self._asked if given is not None and references is not None else ():
            asked.held = asked.held or asked.answers == given

    def _wrap_iter(self, original: Any) -> Any:
        session = self._watch.session

        def __iter__(dataset: Any) -> Any:  # noqa: N807
            made = original(dataset)
            if session.active and not self._inside and not self._watch.fitting and self._watch.seen.steps:
                self._read.append(_Read(_parts(dataset), session.sites.place(), weakref.ref(made)))
            return made

        return __iter__

    def _wrap_next(self, original: Any) -> Any:
        def __next__(iterator: Any) -> Any:  # noqa: N807
            try:
                return original(iterator)
            except StopIteration:
                for read in self._read:
                    read.whole = read.whole or read.iterator() is iterator
                raise

        return __next__

    def finish(self) -> None:
        """The script is over: whether what it took answers from comes in another order each time."""
        for asked in self._asked:
            read = next((read for read in self._read if read.whole and _shared(asked.chain, read.chain) is not None), None)
            if not (asked.held or read is not None) or self._watch.seen.evaluation.passes is not None:
                continue
            shared = _shared(asked.chain, read.chain if read is not None else asked.chain)
            labelled = next((part for part in chain_of(shared) if _labelled(part)), None) if shared is not None else None
            both = [_labels(labelled), _labels(labelled)] if labelled is not None else [None, None]
            if both[0] is not None and both[1] is not None:
                self._watch.seen.evaluation.passes = passes.compared(
                    both[0], both[1], site(asked.place), site(read.place) if read is not None else None,
                    site(self._watch.data.place_of(labelled)))


def _parts(dataset: Any) -> list[_Part]:
    return [(weakref.ref(part), type(part).__name__) for part in chain_of(dataset)]


def _shared(one: list[_Part], other: list[_Part]) -> Any:
    """The outermost dataset that still lives and that both were made of row by row; None where there is none."""
    for ref, _ in _row_by_row(one):
        found = ref()
        if found is not None and any(part() is found for part, _ in _row_by_row(other)):
            return found
    return None


def _row_by_row(chain: list[_Part]) -> list[_Part]:
    """The parts down to the first that holds other rows than what it was made of."""
    ends = next((number for number, (_, kind) in enumerate(chain) if any(part in kind for part in _OTHER)), len(chain))
    return chain[:ends + 1]


def _labelled(dataset: Any) -> bool:
    return isinstance(dataset.element_spec, tuple) and len(dataset.element_spec) > 1


def _labels(dataset: Any) -> list[Any] | None:
    """The labels in the order of one pass; None where they are no classes, or too many."""
    found: list[Any] = []
    begun = time.monotonic()
    for element in dataset:
        labels = class_ids(np.atleast_1d(numpy_of(element[1])), limit=passes.MOST_ROWS)
        if labels is None or len(found) + len(labels) > passes.MOST_ROWS or time.monotonic() - begun > _SECONDS:
            return None
        found += labels
    return found
