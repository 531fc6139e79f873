"""Answers of an evaluation of which nothing is made, but of those to its last batch: what a script does after its loop sees only these.

Outputs are followed through calls that move or choose among numbers; any other call with them, and any reading of them, has looked at them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.checks.evaluation_facts import LastBatchFacts
from harness.frameworks.watch import tensors, trees

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_PASSED_ON = frozenset((
    "argmax", "max", "topk", "softmax", "log_softmax", "sigmoid", "squeeze", "unsqueeze", "view", "reshape", "flatten", "detach", "cpu",
    "float", "to", "round", "__getitem__", "gt", "ge", "lt", "le", "__gt__", "__ge__", "__lt__", "__le__", "int", "long", "bool"))
_COMPARED = frozenset(("eq", "__eq__", "ne", "__ne__", "sub", "__sub__", "rsub", "__rsub__"))
_MOST, _LARGEST = 2000, 1 << 24  # of tensors that are followed, and numbers in all of them


class Unlooked:
    """Listens from an evaluation's first answer to the next training step. Where too much is to be followed it gives that evaluation up."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._begin(None)

    def _begin(self, loader: Any) -> None:
        self._loader = loader
        self._rows: list[int] = []
        # Nothing is kept alive: with gradients, an evaluation would grow by all its graphs.
        self._of: Any = self._watch.torch.utils.weak.WeakTensorKeyDictionary()  # the numbers of batches, by tensors
        self._looked: set[int] = set()
        self._place: Any = None
        self._count, self._size, self._lost = 0, 0, False

    @property
    def listening(self) -> bool:
        return bool(self._rows) and not self._lost

    def answered(self, call: RootCall) -> None:
        """A model has answered to a batch of an evaluation's loader."""
        if self._watch.seen.evaluation.last_batch is not None:
            return
        if call.loader is not self._loader:
            self.over()
            self._begin(call.loader)
        made = trees.leaves(call.output, tensors.is_tensor)
        rows = next((int(tensor.shape[0]) for tensor in made if tensor.dim()), None)
        if call.loader is None or rows is None:
            return
        numbers = self._numbers_of((call.args, call.kwargs))  # what an encoder gives goes on into a decoder
        if not numbers:
            self._rows.append(rows)
            numbers = frozenset([len(self._rows) - 1])
        for tensor in made:
            self._follow(tensor, numbers)

    def saw(self, function: Any, args: Any, kwargs: Any, result: Any) -> None:
        """One call of torch outside models."""
        numbers = self._numbers_of((args, kwargs))
        if not numbers:
            return
        name = str(getattr(function, "__name__", ""))
        if name in _PASSED_ON:
            for made in trees.leaves(result, tensors.is_tensor):
                self._follow(made, numbers)
            return
        self._looked |= numbers
        if name in _COMPARED:
            self._place = self._watch.session.sites.here()

    def over(self) -> None:
        """Training goes on, or another evaluation begins."""
        last = len(self._rows) - 1
        if last > 0 and not self._lost and self._looked == {last} and self._place is not None:
            self._watch.seen.evaluation.last_batch = LastBatchFacts(
                batches=len(self._rows), rows=sum(self._rows), last=self._rows[last], reset=False, site=self._place)
        self._begin(None)

    def _numbers_of(self, given: Any) -> frozenset[int]:
        followed = [self._of[tensor] for tensor in trees.leaves(given, tensors.is_tensor) if tensor in self._of]
        return frozenset[int]().union(*followed)

    def _follow(self, tensor: Any, numbers: frozenset[int]) -> None:
        self._count, self._size = self._count + 1, self._size + tensor.numel()
        self._of[tensor] = numbers | self._of.get(tensor, frozenset[int]())
        if self._count > _MOST or self._size > _LARGEST:
            self._lost = True
