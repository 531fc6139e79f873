"""Files that get in the way of libraries."""

from __future__ import annotations

from pathlib import PurePath
from typing import ClassVar

from harness.catalog.schema import Stage
from harness.checks import raised, reading
from harness.checks.base import Check, Finding
from harness.checks.observation import Observation
from harness.checks.tensor_facts import Site

_PARTIAL = (r"partially initialized module '[\w.]+'",)


class ShadowedLibrary(Check):
    """A file of yours has a library's name, and is imported in its place.

    Python looks into the script's own folder first, also for what libraries import, and also for the script itself.
    Source: Python docs, The initialization of the sys.path module search path; Python 3.13's release notes, which warn of it.
    """

    code: ClassVar[str] = "A703"
    stage: ClassVar[Stage] = "setup"
    messages: ClassVar[tuple[str, ...]] = _PARTIAL

    def check(self, seen: Observation) -> Finding | None:
        """Judges from the files that the exception came through, and from those of the modules that it names."""
        error = next((found for found in reading.raised(seen) if found.shadow), None)
        if error is None:
            return None
        file = PurePath(error.shadow)
        itself = str(file) == seen.script
        return Finding(
            message=f"`{file.name}` {'is this script itself, and ' if itself else ''}is imported wherever the library `{file.stem}` is "
                    "meant: Python looks into the script's folder first.",
            remedy=f"Rename `{file.name}` to a name that no library has (`my_{file.name}`), and delete the folder `__pycache__` beside it.",
            site=Site(file=str(file), line=1), evidence=[raised.quote(error)])
