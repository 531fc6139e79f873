"""The Bug Zoo: training failures that can be run, diagnosed and fixed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.live import diagnose as diagnose

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`harness.diagnose` is loaded when it is asked for: the command line starts without it."""
    if name == "diagnose":
        from harness.live import diagnose

        return diagnose
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
