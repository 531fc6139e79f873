"""The connectionist temporal classification (CTC): whether what is to be said holds the symbol that stands for nothing."""

from __future__ import annotations

import ast
import functools
from pathlib import Path
from typing import Any

import numpy as np

from harness.checks.loss_facts import BlankFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.session import WatchSession
from harness.frameworks.watch.sites import Place, site

_CALLS = 24
_WORDS = {"blank", "blank_index"}


class Blanks:
    """Told of every call of such a loss."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def called(self, targets: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], blank: int, classes: int) -> None:
        """`targets`: int[rows, longest] or all rows one after the other, int[n]; `lengths`: int[rows] of their real parts."""
        facts = self._session.observation.blanks
        if facts is None:
            facts = self._session.observation.blanks = BlankFacts(blank=blank, site=self._session.sites.here(),
                                                                        named=site(_named(self._session.script)))
        if facts.calls >= _CALLS:
            return
        if targets.ndim == 1:
            rows = np.split(targets, np.cumsum(lengths)[:-1])
        else:
            rows = [row[:length] for row, length in zip(targets, lengths, strict=True)]
        held = sum(bool((row == blank).any()) for row in rows)
        facts.calls, facts.rows, facts.held = facts.calls + 1, facts.rows + len(rows), facts.held + held
        present = set(np.unique(np.concatenate(rows)).tolist())
        facts.unused = sorted(set(range(classes)) - present - {blank} if facts.unused is None else set(facts.unused) - present)

    def given(self, sums: np.ndarray[Any, Any]) -> None:
        """`sums`: float[steps, rows], of the exponentials of what the loss was given for the classes: 1 each where these are
        log-probabilities."""
        facts = self._session.observation.blanks
        if facts is not None and len(facts.sums) < _CALLS:
            facts.sums.append(float(np.median(sums)))


def wrap(original: Any, session: WatchSession, look: Any) -> Any:
    """`original`, of whose calls `look` is told."""
    @functools.wraps(original)
    def ctc_loss(*args: Any, **kwargs: Any) -> Any:
        if session.active:
            session.safely("the blank of a loss", functools.partial(look, *args, **kwargs))
        return original(*args, **kwargs)

    return ctc_loss


def _named(script: Path) -> Place | None:
    """Where a script gives the name its value that it hands on as the blank."""
    tree = parsed.tree(str(script))
    names = {node.value.id for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg in _WORDS
             and isinstance(node.value, ast.Name)}
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
             and names & {target.id for target in node.targets if isinstance(target, ast.Name)}]
    return (str(script), lines[0], "<module>") if len(lines) == 1 else None
