"""Ids of words of which one is the padding's as well: 0, which a model leaves out wherever it stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.probe_facts import PaddingWordFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place, site

_WORDS, _ROWS, _SHARE = 10, 0.2, 0.02
# What stands for the padding, or for nothing.
_NO_WORD = re.compile(r"^\W*(pad(ding)?|blank|null|none|nan|mask|unk(nown)?|oov|empty|filler|eos|bos|sos|start|end|cls|sep|n/?a)?\W*$",
                      re.IGNORECASE)

Array = np.ndarray[Any, Any]


def measure(batches: Iterable[list[Array]], named: dict[str, Any], script: Path) -> PaddingWordFacts | None:
    """Facts of int[rows, steps] whose rows end in zeros, and which have zeros inside too, where a vocabulary among the script's names
    gives 0 to a word. None where it does not, or the rows hardly have any."""
    rows = [part for batch in batches for part in batch if part.ndim == 2 and part.dtype.kind in "iu" and part.shape[1] > 1]
    if not rows or len({part.shape[1] for part in rows}) > 1:
        rows = rows[:1]
    if not rows:
        return None
    ids = np.concatenate(rows)
    real = ids != 0
    lengths = ids.shape[1] - real[:, ::-1].argmax(1)
    within = np.arange(ids.shape[1])[None, :] < lengths[:, None]
    holes = within & ~real
    if lengths.min() == ids.shape[1] or not real.any(1).all() or holes.any(1).mean() < _ROWS or holes.sum() < _SHARE * within.sum():
        return None
    for name, value in named.items():
        word = _of_zero(value)
        if word is not None:
            return PaddingWordFacts(word=word, vocabulary=name, rows=len(ids), share=float(holes.sum() / within.sum()),
                                    held=float(holes.any(1).mean()), site=site(_numbered(script)))
    return None


def _of_zero(value: Any) -> str | None:
    """The word that has the number 0; None where that is none."""
    if not isinstance(value, dict) or len(value) < _WORDS or not all(type(number) is int or isinstance(number, np.integer)
                                                                     for number in value.values()):
        return None
    word = next((key for key, number in value.items() if number == 0), None)
    return word if isinstance(word, str) and not _NO_WORD.match(word) else None


def _numbered(script: Path) -> Place | None:
    """The first line on which a script numbers words from 0 on: `{word: i for i, word in enumerate(words)}`."""
    lines = [node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.DictComp)
             and isinstance(node.value, ast.Name) and any(_from_0(part) for part in ast.walk(node.generators[0].iter))]
    return (str(script), min(lines), "") if lines else None


def _from_0(part: ast.AST) -> bool:
    return isinstance(part, ast.Call) and getattr(part.func, "id", "") == "enumerate" and len(part.args) == 1 and not part.keywords
