"""Labels of tokens that begin where their row begins, before a first token that is of no word."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.frameworks.watch import fills

_IGNORED, _ROWS, _MOSTLY, _SOME, _MORE, _SHIFTED, _HALF = -100, 8, 0.9, 0.2, 0.1, 0.5, 0.65

Array = np.ndarray[Any, Any]


def before(ids: Array, mask: Array | None, labels: Array) -> bool | None:
    """Whether each label of a batch stands one place before its token; None where rows do not begin with a token of their own.

    `ids`, `mask`, `labels`: int[rows, length]. The first token is the same in all rows and stands nowhere else, yet it has a label, and not
    the same one in all rows; and the labels follow from the tokens behind theirs clearly more often than from their own.
    """
    if ids.shape != labels.shape or len(ids) < _ROWS or ids.shape[1] < 3:
        return None
    padded = mask == 0 if mask is not None and mask.shape == ids.shape else fills.ends(ids, ids.shape)
    shown = ~padded if padded is not None else np.ones_like(ids, dtype=bool)
    begins = ids == ids[0, 0]
    if not shown[:, 0].all() or not begins[:, 0].all() or (begins & shown)[:, 1:].any():
        return None
    marked = (labels != _IGNORED) & shown
    if marked[:, 0].mean() < _MOSTLY:
        return False
    if _commonest(labels[:, 0]) > _MOSTLY or not _counted(ids, shown, marked):
        return None
    if (marked.sum(1) < shown.sum(1) - 2).mean() > _SOME:  # some pieces have no label, and which these are is told by the piece as well
        places = shown[:, 1:]
        behind, here = (_told(ids[:, 1:][places], part[places]) for part in (labels[:, :-1], labels[:, 1:]))
        return 1 - behind < _HALF * (1 - here) and 1 - here > _MORE
    own = marked[:, 1:]
    ahead = marked[:, :-1] & shown[:, 1:]
    if (labels[:, :-1] == ids[:, 1:])[ahead].mean() > _SHIFTED:
        return None  # a language model's, which are the tokens behind
    return _told(ids[:, 1:][ahead], labels[:, :-1][ahead]) > _told(ids[:, 1:][own], labels[:, 1:][own]) + _MORE


def _counted(ids: Array, shown: Array, marked: Array) -> bool:
    """Whether rows have as many labels as words, or as tokens; or, where some pieces of words have none, labels that end where so many end
    that begin with the row. Whoever asks for the label of the next word has one more than words."""
    length = shown.sum(1)
    last = ids[np.arange(len(ids)), length - 1]
    words = length - 1 - int((last == last[0]).all())
    labels = marked.sum(1)
    reach = marked.shape[1] - marked[:, ::-1].argmax(1)
    pieces = bool((reach <= words).mean() >= _MOSTLY and (reach == words).mean() >= _SOME and (labels < words).mean() >= _SOME)
    return pieces or bool(((labels == words) | (labels == length)).mean() >= _MOSTLY)


def _told(tokens: Array, labels: Array) -> float:
    """The share of labels that are the commonest of their token."""
    right = sum(np.unique(labels[tokens == token], return_counts=True)[1].max() for token in np.unique(tokens))
    return float(right) / max(1, len(tokens))


def _commonest(values: Array) -> float:
    return float(np.unique(values, return_counts=True)[1].max()) / len(values)
