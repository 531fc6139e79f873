"""What a model has answered in an evaluation, so that its answers are known again where a metric is given them as references."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

_BATCHES, _ROWS, _LEAST = 512, 100_000, 12
_TWO = 2  # values, or classes
_EXACT = 1e-3  # of the deviation: what float32, a scaler's inverse and rounding leave

Array = np.ndarray[Any, Any]


class Answered:
    """Keeps the outputs of evaluations, one number or one score for each class a row, since training went on last."""

    def __init__(self) -> None:
        self._kept: deque[Array] = deque(maxlen=_BATCHES)
        self._stale = False
        self.times = 0  # that a model has answered

    def trains(self) -> None:
        """Training goes on: what is answered next is another evaluation's."""
        self._stale = True

    def gave(self, outputs: Any) -> None:
        """A model has answered rows with these: float[rows], [rows, 1] or [rows, classes]; where it has several outputs, a dict or
        list of such."""
        self.times += 1
        several = list(outputs.values()) if isinstance(outputs, dict) else outputs if isinstance(outputs, list | tuple) else [outputs]
        for made in several:
            if not isinstance(made, np.ndarray) or made.dtype.kind != "f" or made.ndim not in (1, 2) or len(made) > _ROWS:
                continue
            if self._stale:
                self._stale = False
                self._kept.clear()
            self._kept.append(np.array(made if made.ndim == 2 else made[:, None]))

    @property
    def any(self) -> bool:
        """Whether a model has answered anything."""
        return bool(self._kept)

    def gave_these(self, values: Any) -> bool:
        """Whether numbers or classes, one a row, are what a model has answered, be it in another unit."""
        flat = _flat(values)
        return flat is not None and any(_made_of(flat, outputs) for outputs in self._candidates(len(flat)))

    def behind(self, values: Any) -> Array | None:
        """The scores, float[rows], that answers of two values are cut from, by a threshold or by the larger one of two; None where no
        model has given such."""
        flat = _flat(values)
        if flat is None or len(np.unique(flat)) != _TWO:
            return None
        for outputs in self._candidates(len(flat)):
            scores: Array = (outputs[:, -1] - (outputs[:, 0] if outputs.shape[1] == _TWO else 0)).astype(np.float64)
            low = flat == flat.min()
            if outputs.shape[1] <= _TWO < len(np.unique(scores)) and scores[low].max() <= scores[~low].min():
                return scores
        return None

    def single(self, rows: int) -> list[Array]:
        """The answers for so many rows that are a number each, as float[rows, 1] and as float[rows]; of scores the classes, int[rows]."""
        return [part for outputs in self._candidates(rows)
                for part in ((outputs, outputs[:, 0]) if outputs.shape[1] == 1 else (outputs.argmax(1),))]

    def swapped(self, predictions: Any, references: Any) -> bool:
        """Whether it is the references of a metric that were answered, and not the predictions."""
        given = [_flat(predictions), _flat(references)]
        if given[0] is None or given[1] is None or len(given[0]) != len(given[1]) or len(given[0]) < _LEAST:
            return False
        return any(_made_of(given[1], outputs) and not _made_of(given[0], outputs) for outputs in self._candidates(len(given[0])))

    def cut(self, predictions: Any, references: Any) -> float | None:
        """Of references that are yes and no, the share that is right where the one number a row that a model has answered (these
        predictions themselves, where they are float[rows, 1]) is cut at one half, or at zero. None where there is no such number."""
        wanted = _flat(references)
        if wanted is None or len(wanted) < _LEAST or not np.isin(wanted, (0, 1)).all():
            return None
        own = isinstance(predictions, np.ndarray) and predictions.dtype.kind == "f" and predictions.shape == (len(wanted), 1)
        candidates = [predictions] if own else self._candidates(len(wanted))
        single = [outputs[:, 0] for outputs in candidates if outputs.shape[1] == 1]
        return max((float(((scores > at) == wanted).mean()) for scores in single for at in (0.5, 0.0)), default=None)

    def _candidates(self, rows: int) -> list[Array]:
        """The answers for so many rows: one call's, or those of the last calls together."""
        found = [outputs for outputs in self._kept if len(outputs) == rows]
        last: list[Array] = []
        for outputs in reversed(self._kept):
            last.insert(0, outputs)
            total = sum(map(len, last))
            if total >= rows or outputs.shape[1] != last[-1].shape[1]:
                if total == rows and len(last) > 1 and len({part.shape[1] for part in last}) == 1:
                    found.append(np.concatenate(last))
                break
        return found


def _flat(values: Any) -> Array | None:
    """Numbers, one a row; None for anything else."""
    plain = np.asarray(values) if isinstance(values, np.ndarray | list | tuple) or hasattr(values, "__array__") else None
    if plain is None or plain.dtype.kind not in "iufb" or plain.ndim == 0 or plain.size != len(plain):
        return None
    flat: Array = plain.reshape(-1).astype(np.float64)
    return flat if np.isfinite(flat).all() and flat.std() > 0 else None


def _made_of(values: Array, outputs: Array) -> bool:
    """Whether float[rows] is what these outputs, float[rows, classes], say: the class of the largest, a class by a threshold, the same
    numbers in another unit, or in the same order throughout (what a sigmoid makes of them)."""
    if outputs.shape[1] > _TWO or (outputs.shape[1] == _TWO and len(np.unique(values)) <= _TWO):
        return bool((values == outputs.argmax(1)).all())
    scores: Array = (outputs[:, -1] - (outputs[:, 0] if outputs.shape[1] == _TWO else 0)).astype(np.float64)
    if len(np.unique(values)) == 2:
        low = values == values.min()
        return bool(scores[low].max() <= scores[~low].min()) or bool(scores[~low].max() <= scores[low].min())
    around, middle = values - values.mean(), scores - scores.mean()
    spread = float((middle**2).sum())
    if spread == 0:
        return False
    left = around - middle * float((around * middle).sum()) / spread
    steps = np.diff(values[np.argsort(scores, kind="stable")])
    return bool(np.abs(left).max() < _EXACT * values.std() or steps.min() >= -_EXACT * values.std() or steps.max() <= _EXACT * values.std())
