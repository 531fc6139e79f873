"""In a notebook: `%load_ext harness.magic`, then `%%diagnose` above a cell that trains."""

from __future__ import annotations

import linecache
from typing import Any

from harness.errors import BadParameter
from harness.frameworks.watch.session import WatchBudget
from harness.live import LiveDiagnosis, watched


def load_ipython_extension(ipython: Any) -> None:
    """Register the magic. Called by `%load_ext`."""

    def diagnose(line: str, cell: str) -> LiveDiagnosis:
        """Run the cell under watch and name the first cause.

        `%%diagnose [seconds]`: how long training is watched, 20 by default. The cell is ended when enough was seen, so what it trains
        is trained for those few steps; `harness.diagnose(trainer)` leaves its object as it was.
        """
        try:
            budget = WatchBudget(seconds=float(line)) if line.strip() else WatchBudget()
        except ValueError:
            raise BadParameter(f"%%diagnose takes seconds, such as %%diagnose 30, not {line.strip()!r}") from None
        text = ipython.transform_cell(cell)
        name = ipython.compile.cache(text, ipython.execution_count)
        linecache.checkcache(name)
        code = compile(text, name, "exec")
        return watched(lambda: exec(code, ipython.user_ns), name, "cell", budget)  # noqa: S102 - the user's own cell

    ipython.register_magic_function(diagnose, magic_kind="cell")
