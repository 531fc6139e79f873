"""What rows of token ids are filled up with."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.data_facts import FillFacts
from harness.checks.raised import LABELS
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.sites import Place

_SHARE, _LENGTHS = 0.05, 3

Array = np.ndarray[Any, Any]


def measure(ids: np.ndarray[Any, Any], pad: int) -> FillFacts:
    """Where an id stands in int[rows, length]."""
    padded = ids == pad
    at_end = np.flip(np.logical_and.accumulate(np.flip(padded, 1), axis=1), 1)
    runs = at_end.sum(1)
    return FillFacts(share=float(padded.mean()), rows=int((runs > 0).sum()), lengths=len(np.unique(runs[runs > 0])),
                     half=2 * int((runs > 1).sum()) > len(ids), inside=bool((padded != at_end).any()))


def of_no_word(script: Path) -> Place | None:
    """The only line of a script that gives a label to what is part of no word: `if word is None: labels.append(0)`."""
    lines = {part.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.If) and _is_none(node.test)
             for part in node.body if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)
             and isinstance(part.value.func, ast.Attribute) and part.value.func.attr == "append"
             and getattr(part.value.func.value, "id", "") in LABELS}
    return (str(script), lines.pop(), "") if len(lines) == 1 else None


def _is_none(test: ast.expr) -> bool:
    return (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is) and isinstance(test.comparators[0], ast.Constant)
            and test.comparators[0].value is None)


def ends(given: Any, shape: tuple[int, ...]) -> Array | None:
    """Which positions of ids, int[rows, length], or of steps, float[rows, length, numbers], are filled up at the rows' ends: with one id,
    or with zeros, that stand nowhere else. None for other inputs, and where no row is, or all are."""
    plain = tensors.array(given)
    if plain is None or plain.shape[:2] != shape or plain.ndim not in (2, 3) or plain.dtype.kind not in ("iu" if plain.ndim == 2 else "f"):
        return None
    if plain.ndim == 3:
        same: Array = (plain == 0).all(-1)
    else:
        ends, counts = np.unique(plain[:, -1], return_counts=True)
        same = plain == ends[counts.argmax()]
    padded: Array = np.logical_and.accumulate(same[:, ::-1], axis=1)[:, ::-1]
    return padded if bool((padded == same).all()) and bool((padded.sum(1) > 1).any()) and not bool(padded.all()) else None


class Bare:
    """The batches that a model is trained on without a mask: may the padding id of its configuration be a word of its rows?"""

    def __init__(self) -> None:
        self._looked = 0
        self._word = False

    def trained(self, ids: Any, config: Any) -> None:
        """A batch of ids, int[rows, length]."""
        pad = getattr(config, "pad_token_id", None)
        if not isinstance(pad, int) or ids is None or ids.ndim != 2 or ids.dtype.kind not in "iu":
            return
        self._looked += 1
        self._word = self._word or measure(ids, pad).inside

    def filled(self, ids: Any, config: Any) -> float | None:
        """The share of padding in a batch that is asked about, where it is padding beyond doubt and not next to nothing."""
        if not self._looked or self._word or ids is None or ids.ndim != 2 or ids.dtype.kind not in "iu":
            return None
        found = measure(ids, config.pad_token_id)
        return found.share if not found.inside and found.lengths >= _LENGTHS and found.share >= _SHARE else None
