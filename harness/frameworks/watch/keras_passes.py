"""Datasets that a model answers for with `predict`, and the references that its answers are held against."""

from __future__ import annotations

import linecache
import tempfile
import time
import weakref
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import passes, together
from harness.frameworks.watch.keras_classes import classes_of
from harness.frameworks.watch.keras_data import chain_of, class_ids
from harness.frameworks.watch.keras_trace import numpy_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_KEPT, _SECONDS = 20, 3.0


@dataclass
class _Asked:
    """A dataset that `predict` was given, and the classes that it answered. `chain`: what it was made of, outermost first, weakly."""

    chain: list[Any]
    place: Place | None
    answers: list[int]


class Passes:
    """Is told what is predicted, and what is compared; hooks the removal of temporary folders, behind which nothing can be read again."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._asked: deque[_Asked] = deque(maxlen=_KEPT)
        self._held: list[tuple[_Asked, list[Any]]] = []
        # A function that has evaluated may be over before its data is read again; one dataset is kept for that, and not all.
        self._kept: Any = None
        watch.session.comparisons.append(self._compared)

    def attach(self) -> None:
        """Hook `tempfile`."""
        self._watch.session.patches.replace(tempfile.TemporaryDirectory, "cleanup", self._wrap_cleanup)

    def _wrap_cleanup(self, original: Any) -> Any:
        session = self._watch.session

        def cleanup(folder: Any) -> Any:
            if session.active and self._asked:
                with session.paused():
                    session.safely("rows that are read again", self.finish)
            return original(folder)

        return cleanup

    def asked(self, data: Any, place: Place | None, made: Any) -> None:
        """`predict` was given `data`, and `made` came out."""
        call = next(iter(self._watch.seen.loss_calls), None)
        if not (hasattr(data, "element_spec") or _in_batches(data)):
            return
        # Many a script takes the largest of several units with a binary loss, or with one of its own; whether this one does, the comparison
        # tells.
        several = (call is None or call.name in ("bce", "other")) and getattr(made, "ndim", 0) == 2 and made.shape[1] > 1
        name = "categorical" if several else "" if call is None else call.name
        answers = classes_of(made, name, logits=bool(call is not None and call.from_logits))
        if _in_batches(data):
            if answers:
                self._keep(data, _Asked([weakref.ref(data)], place, answers))
            return
        chain = chain_of(data)
        kinds = [type(part).__name__ for part in chain]
        if answers and any("Shuffle" in kind for kind in kinds) and not any("Generator" in kind or "FlatMap" in kind for kind in kinds):
            self._keep(data, _Asked([weakref.ref(part) for part in chain], place, answers))

    def _keep(self, data: Any, asked: _Asked) -> None:
        self._asked.append(asked)
        if not self._held:
            self._kept = data

    def _compared(self, answers: Any, references: Any) -> None:
        """Answers are compared with references, row by row."""
        both = (passes.rows_of(answers), passes.rows_of(references)) if self._asked else (None, None)
        if both[0] is not None and both[1] is not None and len(set(both[0])) > 1 and len(self._held) < _KEPT:
            self._held += [(asked, both[1]) for asked in self._asked if asked.answers == both[0]]

    def finish(self) -> None:
        """The script is over: whether what it took answers from comes in another order each time."""
        known: dict[int, tuple[Any, Any]] = {}
        begun = time.monotonic()
        # Where the labels come from is read off the script's text, and so is a comparison that nobody has heard.
        places = {id(asked): together.labels_beside(asked.place, "predict") for asked in self._asked if asked.place}
        heard = [(asked, references, places.get(id(asked))) for asked, references in self._held]
        unheard = [] if heard else [(asked, None, places[id(asked)]) for asked in self._asked if places.get(id(asked))]
        for asked, references, read in [*heard, *unheard]:
            parts = [part for part in (ref() for ref in asked.chain) if part is not None]
            data = next((part for part in parts if _in_batches(part) or _labelled(part)), None)
            if data is None or time.monotonic() - begun > _SECONDS or self._watch.seen.evaluation.passes is not None:
                continue
            one, other = known.setdefault(id(data), (_labels(data, begun), _labels(data, begun)))
            if one is not None and other is not None and Counter(one) == Counter(other if references is None else references):
                self._watch.seen.evaluation.passes = passes.compared(
                    one, other, site(asked.place), site(read), site(self._watch.data.place_of(data)), site(self._shuffled(parts)))

    def _shuffled(self, parts: list[Any]) -> Place | None:
        """Where the script itself says that the rows are shuffled; what a library shuffles by default no line shows."""
        data = self._watch.data
        mixed = [(data.place_of(part), part) for part in parts if type(part).__name__ == "_ShuffleDataset"]
        return next((data.asked_at(part) for place, part in mixed
                     if place is not None and "shuffle" in linecache.getline(place[0], place[1])), None)


def _in_batches(data: Any) -> bool:
    """Whether this is a sequence of batches of Keras's, which may put its rows in another order after each pass."""
    return hasattr(data, "__getitem__") and hasattr(data, "__len__") and callable(getattr(data, "on_epoch_end", None))


def _pass(data: Any) -> Iterator[Any]:
    if not _in_batches(data):
        yield from data
        return
    yield from (data[number] for number in range(len(data)))
    data.on_epoch_end()  # as Keras calls it, also after `predict`


def _labelled(dataset: Any) -> bool:
    return isinstance(dataset.element_spec, tuple) and len(dataset.element_spec) > 1


def _labels(dataset: Any, begun: float) -> list[Any] | None:
    """The labels in the order of one pass; None where they are no classes, too many, or too slow to come."""
    found: list[Any] = []
    for element in _pass(dataset):
        if not isinstance(element, tuple | list) or len(element) < 2:
            return None
        labels = class_ids(np.atleast_1d(numpy_of(element[1])), limit=passes.MOST_ROWS)
        if labels is None or len(found) + len(labels) > passes.MOST_ROWS or time.monotonic() - begun > _SECONDS:
            return None
        found += labels
    return found
