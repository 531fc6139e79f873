"""Where a script takes one mean and one deviation for features that differ: read off its text."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_DEVIATIONS = ("std", "reduce_std", "nanstd")


def written(script: Path) -> Place | None:
    """The first line on which the deviation of a whole table is taken, or of all its axes but one in the middle."""
    calls = [call for call in ast.walk(parsed.tree(str(script))) if isinstance(call, ast.Call) and name_of(call.func) in _DEVIATIONS]
    lines = sorted(call.lineno for call in calls if _of_all(call))
    return (str(script), lines[0], "") if lines else None


def _of_all(call: ast.Call) -> bool:
    own = isinstance(call.func, ast.Attribute) and not (isinstance(call.func.value, ast.Name) and call.func.value.id in (
        "np", "numpy", "tf", "torch", "jnp"))
    axes = [*call.args[0 if own else 1:], *(word.value for word in call.keywords if word.arg in ("axis", "dim"))]
    return not axes or isinstance(axes[0], ast.Tuple)
