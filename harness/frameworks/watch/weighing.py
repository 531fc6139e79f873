"""What a loss multiplies its classes by, beside how often they come."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.loss_facts import WeightFacts
from harness.frameworks.watch import parsed, tensors
from harness.frameworks.watch.provenance import Text
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import Place

_WORDS = ("pos_weight", "class_weight", "weight")
_MOST = 1000

Array = np.ndarray[Any, Any]


class Weighing:
    """Told of every loss call of a training; counts what the first weights that it sees are applied to."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._counts: Array = np.zeros(0)

    def called(self, name: str, given: Mapping[str, Any], target: Any, ignored: int | None) -> None:
        """A loss of PyTorch is called. `name` as in `LossCall.name`; `target`: class ids, or for `bce_with_logits` float[rows, outputs] of
        0 and 1."""
        kind = "positive" if name == "bce_with_logits" else "class"
        weights = tensors.array(given.get("pos_weight" if kind == "positive" else "weight"))
        wanted = tensors.array(target)
        if weights is None or wanted is None or weights.ndim > 1 or weights.size > _MOST or not wanted.size:
            return
        if kind == "positive":
            if not np.isin(wanted, (0, 1)).all() or (weights.size > 1 and wanted.shape[-1] != weights.size):
                return
            rows = wanted.reshape(-1, weights.size)
            self._add(kind, weights.reshape(-1), rows.sum(0), len(rows))
        elif name in ("cross_entropy", "nll") and weights.size > 1 and wanted.dtype.kind in "iu":
            kept = wanted[(wanted != ignored) & (wanted >= 0) & (wanted < weights.size)]
            self._add(kind, weights, np.bincount(kept.reshape(-1), minlength=weights.size), kept.size)

    def fitted(self, class_weight: Any) -> None:
        """`fit` of Keras was given these weights, a number for each class id; how often these come its data tell."""
        if isinstance(class_weight, Mapping) and len(class_weight) > 1 and set(class_weight) == set(range(len(class_weight))):
            self._add("class", np.asarray([float(class_weight[label]) for label in range(len(class_weight))]),
                      np.zeros(len(class_weight)), 0)

    def _add(self, kind: Any, weights: Array, counts: Array, rows: int) -> None:
        seen = self._session.observation
        if seen.weights is None:
            place = self._session.safely("where weights are made", made, self._session.script)
            self._counts = np.zeros(weights.size)
            seen.weights = WeightFacts(kind=kind, weights=weights.astype(float).tolist())
            self._session.noted("weights", place)
        if seen.weights.kind == kind and seen.weights.weights == weights.astype(float).tolist():
            self._counts = self._counts + counts
            seen.weights.rows += rows
            seen.weights.counts = [int(count) for count in self._counts]


def made(script: Path | str) -> Place | None:
    """The line on which the only weights that a script gives a loss are made."""
    tree = parsed.tree(str(script))
    given = [word.value for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords
             if word.arg in _WORDS and not isinstance(word.value, ast.Constant)]
    if len(given) != 1:
        return None
    if isinstance(given[0], ast.Attribute):  # an object keeps what it was handed by this name
        name = given[0].attr
        handed = [word.value for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords if word.arg == name]
        given = handed if len(handed) == 1 else given
    steps = Text(tree).steps(given[0])
    chosen = next((step for step in steps if step.kind == "made"), steps[0] if steps else None)
    return (str(script), chosen.line, chosen.function) if chosen is not None else (str(script), given[0].lineno, "<module>")
