"""Answers and targets of sequences that are laid out in one row each: whether both are in one order."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.loss_facts import FlattenedFacts
from harness.frameworks.watch import tensors, trees
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_loss import LossRecord
    from harness.frameworks.watch.torch_watch import TorchWatcher

_BATCHES, _LEAST, _LARGEST = 24, 200, 1 << 18

Array = np.ndarray[Any, Any]


class Flattened:
    """Told of training steps. A token tells something of its own label: in the order in which it tells more the targets lie."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._pairs: list[tuple[Array, Array, Array]] = []  # tokens in the order of the answers, in the other order, and targets
        self._record: tuple[Place | None, int, int, bool] | None = None

    def trained(self, call: RootCall, records: list[LossRecord]) -> None:
        """A loss is about to go backward. The facts are there after so many batches."""
        if len(self._pairs) >= _BATCHES or len(records) != 1 or records[0].facts.name not in ("cross_entropy", "nll"):
            return
        record = records[0]
        output = self._watch.losses.output_of([call])
        given = [part for part in trees.leaves([call.args, call.kwargs], tensors.is_tensor) if part.dim() == 2 and not (
            part.is_floating_point() or part.dtype == self._watch.torch.bool)]
        target = tensors.array(record.target)
        if output is None or output.dim() != 3 or not given or target is None or target.ndim != 1 or target.dtype.kind not in "iu":
            return
        rows, length = given[0].shape
        turned = tuple(output.shape[:2]) == (length, rows)
        if rows == length or (not turned and tuple(output.shape[:2]) != (rows, length)) or not target.size == rows * length <= _LARGEST:
            return
        ids = tensors.array(given[0])
        if ids is not None:
            plain, across = ids.reshape(-1), ids.T.reshape(-1)
            self._pairs.append((across, plain, target) if turned else (plain, across, target))
            self._record = record.place, rows, length, turned
        if len(self._pairs) in (_BATCHES // 2, _BATCHES):
            self._watch.seen.flattened = self._facts()

    def _facts(self) -> FlattenedFacts | None:
        """None where there were too few labels to tell."""
        half = len(self._pairs) // 2
        if self._record is None or not half or sum(len(target) for *_, target in self._pairs[half:]) < _LEAST:
            return None
        own, other = (_told([(pair[side], pair[2]) for pair in self._pairs], half) for side in (0, 1))
        held = np.concatenate([target[target >= 0] for *_, target in self._pairs[half:]])
        place, rows, length, turned = self._record
        return FlattenedFacts(rows=rows, length=length, turned=turned, own=own, other=other, site=site(place),
                              commonest=Counter(held.tolist()).most_common(1)[0][1] / len(held) if len(held) else 1.0)


def _told(pairs: list[tuple[Array, Array]], half: int) -> float:
    """Share of labels that are the commonest one of their token in the first half of the batches; of the second half."""
    known: dict[int, Counter[int]] = defaultdict(Counter)
    for ids, target in pairs[:half]:
        for token, label in zip(ids.tolist(), target.tolist(), strict=True):
            if label >= 0:
                known[token][label] += 1
    best = {token: counts.most_common(1)[0][0] for token, counts in known.items()}
    later = (pair for ids, target in pairs[half:] for pair in zip(ids.tolist(), target.tolist(), strict=True))
    held = [(token, label) for token, label in later if label >= 0]
    return float(np.mean([best.get(token) == label for token, label in held])) if held else 0.0
