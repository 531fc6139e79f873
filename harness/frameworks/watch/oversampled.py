"""Rows that are drawn several times over before they are split: read off a script's text."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_SPLITS = ("train_test_split", "random_split", "split", "KFold", "StratifiedKFold", "ShuffleSplit", "StratifiedShuffleSplit")
_ALWAYS = ("resample", "fit_resample")  # with replacement unless they are told otherwise


def written(script: Path) -> Place | None:
    """Where the script has rows drawn with replacement, in whatever function of its own, and splits later on in the same place."""
    tree = parsed.tree(str(script))
    drawn = [parsed.led_back(tree, *found) for found in parsed.calls(tree) if _repeats(found[0])]
    split = [parsed.led_back(tree, *found) for found in parsed.calls(tree) if name_of(found[0].func) in _SPLITS]
    for call, inside in drawn:
        if any(other.lineno > call.lineno and within == inside for other, within in split):
            return str(script), call.lineno, inside or "<module>"
    return None


def _repeats(call: ast.Call) -> bool:
    """`frame.sample(n, replace=True)`, `resample(rows)`, `RandomOverSampler().fit_resample(x, y)`."""
    told = next((word.value for word in call.keywords if word.arg == "replace"), None)
    name, without = name_of(call.func), isinstance(told, ast.Constant) and not told.value
    return not without and (name in _ALWAYS or (name in ("sample", "choice") and told is not None))
