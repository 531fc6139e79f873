"""Answers that say nothing, on the right side of what is wanted, on the wrong one, and right: which of them does a loss want?"""

from __future__ import annotations

from typing import Any

import numpy as np

_FARS = (0.0, 0.5, -0.5, 3.0)  # in logits, to the side of what is wanted
_OF_A_SHARE = {0.5: 0.2, -0.5: -0.2, 3.0: 0.45}  # as far, in probabilities
_EITHER = 0.95  # of the values of a mask, or of several labels, that are 0 or 1

Array = np.ndarray[Any, Any]


def sides(answers: Array, wanted: Array) -> list[Array] | None:
    """Four sets of answers in the place of a model's: float[rows, classes] beside int[rows], or of the shape of a mask, of several labels.
    Without a word, a little to either side, and right. None where the target says nothing of them."""
    if wanted.dtype.kind in "iu" and answers.ndim == 2 and wanted.ndim == 1 and answers.shape[1] > 1 and len(answers) == len(wanted):
        return _of_classes(answers, wanted)
    same = wanted.size == answers.size and wanted.ndim and answers.ndim and len(wanted) == len(answers)
    if not same or not wanted.size or not np.isfinite(wanted).all():
        return None
    target: Array = wanted.astype(np.float64).reshape(answers.shape)
    if target.min() == target.max() or ((np.abs(target) < 1e-6) | (np.abs(target - 1) < 1e-6)).mean() < _EITHER:
        return None
    towards: Array = 2 * target - 1
    if answers.min() >= 0 and answers.max() <= 1:
        return [0.5 + _OF_A_SHARE.get(far, 0.0) * towards for far in _FARS]
    return [far * towards for far in _FARS]


def _of_classes(answers: Array, wanted: Array) -> list[Array] | None:
    if wanted.min() < 0 or wanted.max() >= answers.shape[1]:
        return None
    towards: Array = np.where(np.arange(answers.shape[1]) == wanted[:, None], 1.0, 0.0)
    shares = bool((answers >= 0).all() and np.allclose(answers.sum(1), 1, atol=1e-3))
    logarithms = bool((answers <= 0).all() and np.allclose(np.exp(answers.astype(np.float64)).sum(1), 1, atol=1e-3))
    made = []
    for logits in (far * towards for far in _FARS):
        plain = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        made.append(np.exp(plain) if shares else plain if logarithms else logits)
    return made
