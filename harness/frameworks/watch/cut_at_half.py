"""Raw scores that a script cuts at one half, as if they were probabilities: known by the answers that a metric is given."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.metric_facts import DecisionFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_HALF, _CLOSE, _MOST = 0.5, 0.05, 20


def asked(session: WatchSession, answers: Any) -> None:
    """A metric was given these answers, yes or no, or they are held against references."""
    known, flat = session.observation.evaluation.decisions, np.ravel(np.asarray(answers))
    scores = session.answered.behind(flat) if len(known) < _MOST else None
    if scores is None or (scores.min() >= 0 and scores.max() <= 1):
        return
    low = flat == flat.min()
    below, above = float(scores[low].max()), float(scores[~low].min())
    if 0 < below < _HALF <= above < below + _CLOSE:
        found = DecisionFacts(how="compare", threshold=_HALF, values=len(scores), minimum=float(scores.min()), maximum=float(scores.max()),
                              lost=int(((scores > 0) & low).sum()), site=site(_written(session.script)) or session.sites.here())
        if found not in known:
            known.append(found)


def _written(script: Path) -> Place | None:
    """The only line of a script that compares with one half."""
    lines = {node.lineno for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Compare)
             and any(isinstance(part, ast.Constant) and part.value == _HALF for part in (node.left, *node.comparators))}
    return (str(script), lines.pop(), "") if len(lines) == 1 else None
