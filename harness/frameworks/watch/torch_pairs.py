"""Inputs from one loader and targets from another: whether both deliver the same rows in a step."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.checks.data_facts import ApartFacts
from harness.frameworks.watch import tensors, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_data import Loader
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS = 8


@dataclass
class _Delivery:
    """The last batch of a loader: the numbers of its rows, where they are known, and the memory of its tensors."""

    loader: Loader
    rows: list[Any] | None
    memory: set[int]


class Pairs:
    """Wraps the drawing of row numbers; follows the tensors of a batch by their memory, into models and losses."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._drawn: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()
        self._last: dict[int, _Delivery] = {}
        self._steps = 0

    def attach(self) -> None:
        from torch.utils.data import dataloader

        self._watch.session.patches.replace(dataloader._BaseDataLoaderIter, "_next_index", self._wrap_next_index)

    def _wrap_next_index(self, original: Any) -> Any:
        def _next_index(iterator: Any) -> Any:
            drawn = original(iterator)
            # Workers are ahead of what is delivered, so that theirs tell nothing.
            if self._watch.session.active and self._steps < _STEPS and iterator._num_workers == 0 and isinstance(drawn, list):
                self._drawn[iterator] = drawn
            return drawn

        return _next_index

    def came(self, loader: Loader, batch: Any) -> None:
        """A loader delivers a batch."""
        if self._steps < _STEPS:
            iterator = loader.iterator() if loader.iterator is not None else None
            memory = {tensors.storage(part) for part in trees.leaves(batch, tensors.is_tensor)}
            self._last[id(loader)] = _Delivery(loader, self._drawn.get(iterator) if iterator is not None else None, memory)

    def trained(self, calls: list[RootCall], target: Any) -> None:
        """A loss that compares a model's output with `target` goes backward."""
        if self._steps >= _STEPS:
            return
        self._steps += 1
        if len(self._last) < 2 or not tensors.is_tensor(target):
            return
        targets = self._from({tensors.storage(target)})
        given = self._from({tensors.storage(part) for call in calls for part in trees.leaves([call.args, call.kwargs], tensors.is_tensor)})
        if len(targets) != 1 or len(given) != 1 or targets[0] is given[0]:
            return
        inputs, wanted = given[0], targets[0]
        if inputs.rows is None or wanted.rows is None or len(inputs.rows) != len(wanted.rows):
            return
        apart = self._watch.seen.apart = self._watch.seen.apart or ApartFacts(
            inputs=inputs.loader.facts.site, targets=wanted.loader.facts.site)
        apart.steps += 1
        apart.same += inputs.rows == wanted.rows
        apart.example = apart.example or ([int(row) for row in inputs.rows[:4]], [int(row) for row in wanted.rows[:4]])

    def _from(self, memory: set[int]) -> list[_Delivery]:
        return [delivery for delivery in self._last.values() if delivery.memory & memory]
