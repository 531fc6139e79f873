"""Columns that pandas makes of the categories that it finds: one for each, of the rows that it is given."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.checks.evaluation_facts import IndicatorFacts

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_CALLS, _COLUMNS = 60, 2000


class Indicators:
    """Wraps `pandas.get_dummies`."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def attach(self) -> None:
        """Hook it once the script imports pandas."""
        self._session.when_imported("pandas", lambda module: self._session.patches.replace(module, "get_dummies", self._wrap))

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self._session

        @functools.wraps(original)
        def get_dummies(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            if session.active and len(session.observation.evaluation.indicators) < _CALLS and len(made.columns) < _COLUMNS:
                session.safely("columns of categories", self._made, made)
            return made

        return get_dummies

    def _made(self, made: Any) -> None:
        self._session.observation.evaluation.indicators.append(
            IndicatorFacts(columns=[str(name) for name in made.columns], rows=len(made), site=self._session.sites.here()))
