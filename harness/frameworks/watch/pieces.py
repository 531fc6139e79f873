"""Labels of words on the pieces that a tokenizer cuts words into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_BEGINS, _GOES_ON = ("▁", "Ġ"), "##"
_LEAST = 3

Array = np.ndarray[Any, Any]


def astray(rows: Sequence[Sequence[str]], labelled: Array, special: set[str]) -> tuple[int, int]:
    """How many rows of tokens have a label for each word, some of which are in pieces, and in how many of them the labels stand on the
    first tokens of the row, special ones included or not, and not on those that begin a word.

    `labelled`: bool[rows, length]; `special`: tokens that are of no word. Rows with a label for every piece are none of these.
    """
    counted = wrong = 0
    for tokens, marks in zip(rows, labelled, strict=False):
        words = [place for place, token in enumerate(tokens) if token not in special]
        begins = _beginnings(tokens, words)
        marked = np.flatnonzero(marks[:len(tokens)]).tolist()
        if begins is None or len(begins) == len(words) or len(begins) < _LEAST or len(marked) != len(begins):
            continue
        counted += 1
        wrong += marked != begins and any(marked == list(range(first, first + len(marked))) for first in (0, words[0]))
    return counted, wrong


def _beginnings(tokens: Sequence[str], words: list[int]) -> list[int] | None:
    """Where words begin; None where the tokens do not tell."""
    if any(tokens[place].startswith(_GOES_ON) for place in words):
        return [place for place in words if not tokens[place].startswith(_GOES_ON)]
    if any(tokens[place].startswith(_BEGINS) for place in words):
        return [place for place in words if place == words[0] or tokens[place].startswith(_BEGINS)]
    return None
