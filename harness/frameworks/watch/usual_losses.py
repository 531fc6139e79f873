"""The usual losses of answers beside what is wanted, to know a loss by that is written out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def of_rows(answers: Array, wanted: Array) -> tuple[str, float] | None:
    """The usual loss of answers, float[rows, classes] beside int[rows] or of one shape, as a mean over rows, and its name."""
    answers = answers.astype(np.float64)
    if wanted.dtype.kind in "iu" and answers.ndim == 2 and wanted.ndim == 1 and len(wanted) == len(answers) and answers.shape[1] > 1:
        if wanted.min() < 0 or wanted.max() >= answers.shape[1]:
            return None
        if (answers > 0).all() and np.allclose(answers.sum(1), 1, atol=1e-4):
            answers = np.log(answers)
        top = answers.max(1, keepdims=True)
        whole = top[:, 0] + np.log(np.exp(answers - top).sum(1))
        return "cross_entropy", float((whole - answers[np.arange(len(wanted)), wanted]).mean())
    if wanted.dtype.kind == "f" and wanted.size == answers.size > 1:
        return "mse", float(((answers.reshape(-1) - wanted.reshape(-1)) ** 2).mean())
    return None
