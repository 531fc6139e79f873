"""The connectionist temporal classification (CTC): whether what is to be said holds the symbol that stands for nothing."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from harness.checks.loss_facts import BlankFacts
from harness.frameworks.watch.session import WatchSession

_CALLS = 24


class Blanks:
    """Told of every call of such a loss."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def called(self, targets: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], blank: int, classes: int) -> None:
        """`targets`: int[rows, longest] or all rows one after the other, int[n]; `lengths`: int[rows] of their real parts."""
        facts = self._session.observation.blanks
        if facts is None:
            facts = self._session.observation.blanks = BlankFacts(blank=blank, site=self._session.sites.here())
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
