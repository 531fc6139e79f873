"""Answers of a model that a script keeps and trains on: whether they come back beside the inputs that they were given for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.data_facts import ApartFacts
from harness.frameworks.watch import tensors, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_data import Loader
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ROWS, _NUMBERS = 8192, 1 << 22
_LEAST, _BATCHES = 8, 2


class Cached:
    """Hooks nothing; is told of forwards and of batches. Rows are known by their bytes."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._asked: dict[int, int | None] = {}  # an answer -> the input it was given for; None where several inputs have it
        self._inputs: set[int] = set()
        self._looked: dict[int, int] = {}

    def answered(self, call: RootCall) -> None:
        """A model has run; without gradients, its answers may be kept."""
        output = None if call.grad or len(self._inputs) >= _ROWS else self._watch.losses.output_of([call])
        if output is None or not output.dim():
            return
        given = [tensor for tensor in trees.leaves([call.args, call.kwargs], tensors.is_tensor)
                 if tensor.dim() and len(tensor) == len(output)]
        asked, answers = _rows(given[0]) if given else None, _rows(output)
        if asked is None or answers is None:
            return
        for question, answer in zip(asked, answers, strict=True):
            self._inputs.add(question)
            self._asked[answer] = question if self._asked.get(answer, question) == question else None

    def came(self, loader: Loader, batch: Any) -> None:
        """A loader delivers a batch: is one of its columns made of known answers, beside inputs that were asked for others?"""
        seen = self._watch.seen
        if not self._asked or seen.apart is not None or self._looked.get(id(loader), 0) >= _BATCHES:
            return
        self._looked[id(loader)] = self._looked.get(id(loader), 0) + 1
        columns = [rows for tensor in trees.leaves(batch, tensors.is_tensor) if tensor.dim() and (rows := _rows(tensor)) is not None]
        for answers in columns:
            asked = [self._asked.get(row) for row in answers]
            for inputs in columns:
                if inputs is answers or len(inputs) != len(answers):
                    continue
                both = [(own, wanted, answer) for own, wanted, answer in zip(inputs, asked, answers, strict=True)
                        if wanted is not None and own in self._inputs]
                same = sum(own == wanted for own, wanted, _ in both)
                # A label such as 3.5, of which there are many rows, may be an answer by chance.
                if len({answer for *_, answer in both}) >= _LEAST and same < 0.5 * len(both):
                    seen.apart = ApartFacts(steps=1, answered=True, rows=len(both), same_rows=same, inputs=loader.facts.site)
                    return


def _rows(tensor: Any) -> list[int] | None:
    """A number for the bytes of each row; None where there are too many of them, or they lie on another device."""
    array = tensors.array(tensor) if tensor.numel() <= _NUMBERS else None
    return None if array is None else [hash(row.tobytes()) for row in array]
