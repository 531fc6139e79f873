"""How answers go with what is wanted, on rows that were trained on and on others: numbers by their correlation, classes by their share."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.evaluation_facts import RelationFacts
from harness.frameworks.watch import tensors, torch_batches

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_BATCHES, _ROWS, _LEAST = 32, 50_000, 100

Array = np.ndarray[Any, Any]
Pair = tuple[Array, Array]


class Relations:
    """Hooks nothing; is told of forwards whose rows a loader delivered. Of evaluations the last one counts."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._trained: deque[Pair] = deque(maxlen=_BATCHES)
        self._held: list[Pair] = []
        self._over = False

    def trained(self, calls: list[RootCall]) -> None:
        """A loss goes backward through these."""
        self._over = True
        pair = self._pair(calls[-1]) if calls else None
        if pair is not None:
            self._trained.append(pair)

    def held(self, call: RootCall) -> None:
        """A forward on rows of another loader than training's."""
        if self._over:
            self._held, self._over = [], False
        pair = self._pair(call) if sum(len(output) for output, _ in self._held) < _ROWS else None
        if pair is not None:
            self._held.append(pair)

    def _pair(self, call: RootCall) -> Pair | None:
        if call.loader is None or call.loader is not self._watch.data.current:
            return None
        target, output = torch_batches.labels_in(self._watch.data.batch), self._watch.losses.output_of([call])
        if tensors.is_tensor(target) and target.is_floating_point() and output is not None:
            fits = target.dim() and self._watch.on_cpu(output) and target.numel() == output.numel() == len(target) == len(output)
            return (_numbers(output), _numbers(target)) if fits else None
        answers = self._watch.evaluations.classes_of(call) if call.labels is not None else None
        return (np.array(answers), np.array(call.labels)) if answers is not None and len(answers) == len(call.labels or ()) else None

    def finish(self) -> None:
        """The relations at the end."""
        known, other = _joined(list(self._trained)), _joined(self._held)
        if known is None or other is None or known[1].dtype.kind != other[1].dtype.kind:
            return
        classes = known[1].dtype.kind == "i"
        measure, share = (_right, _commonest) if classes else (_correlation, _none)
        self._watch.seen.evaluation.relation = RelationFacts(
            trained=measure(*known), trained_rows=len(known[1]), held=measure(*other), rows=len(other[1]), classes=classes,
            trained_majority=share(known[1]), majority=share(other[1]))


def _numbers(tensor: Any) -> Array:
    found: Array = tensor.detach().reshape(-1).double().cpu().numpy().copy()
    return found


def _joined(pairs: list[Pair]) -> Pair | None:
    """All rows; None where they are few, of two kinds, or not finite."""
    if sum(len(answers) for answers, _ in pairs) < _LEAST or len({part.dtype.kind for pair in pairs for part in pair}) > 1:
        return None
    answers, wanted = (np.concatenate([pair[part] for pair in pairs]) for part in (0, 1))
    return (answers, wanted) if np.isfinite(answers).all() and np.isfinite(wanted).all() else None


def _right(answers: Array, wanted: Array) -> float:
    return float((answers == wanted).mean())


def _commonest(wanted: Array) -> float:
    return float(np.unique(wanted, return_counts=True)[1].max() / len(wanted))


def _correlation(answers: Array, wanted: Array) -> float:
    """0 where one side is the same for all rows."""
    return float(np.corrcoef(answers, wanted)[0, 1]) if answers.std() > 0 and wanted.std() > 0 else 0.0


def _none(_wanted: Array) -> float:
    return 0.0
