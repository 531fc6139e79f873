"""What can go wrong for a user of the harness, each with its exit code.

A message says what is wrong, where, and what to do next, in one line. The CLI prints that line alone; anything that is not a
`HarnessError` is a fault of the harness and prints its traceback.
"""

from __future__ import annotations

from typing import ClassVar

OK = 0
NOT_SHOWN = 1
BAD_INPUT = 2
UNKNOWN_BUG = 3
CHILD_DIED = 4
INTERRUPTED = 130


class HarnessError(Exception):
    """A mistake of the user's, or a limit of this machine, that one line explains."""

    exit_code: ClassVar[int] = BAD_INPUT


class CatalogError(HarnessError):
    """A specimen's own files are wrong: `bug.toml`, a script that is missing, a parameters cell that does not match."""


class UnknownBug(HarnessError):
    """No specimen has the id that was asked for."""

    exit_code = UNKNOWN_BUG


class BadParameter(HarnessError):
    """A `-p name=value` with an unknown name, a wrong type or a value out of range."""


class ScriptError(HarnessError):
    """A script that cannot be read, parsed or parameterized."""


class MissingRequirement(HarnessError):
    """A framework, package or device that the run needs is not here."""


class ChildDied(HarnessError):
    """The child process was ended from outside (a timeout, a signal, the kernel) before it could report."""

    exit_code = CHILD_DIED


class SiteError(HarnessError):
    """The site cannot be built as it should be: a page, a translation or an execution is not what it says."""

    exit_code = NOT_SHOWN
