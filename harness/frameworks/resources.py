"""Memory as the kernel accounts for it: what the process may take, and what it took at most."""

from __future__ import annotations

import ctypes
import resource
from pathlib import Path
from typing import Any

import wrapt

from harness.frameworks.events import Emit

_PAGE = resource.getpagesize()


def address_space_bytes() -> int:
    """Size of this process's address space now, or 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * _PAGE
    except OSError:
        return 0


def resident_bytes() -> int:
    """Memory that this process holds now, or 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def release_freed() -> None:
    """Have the allocator give freed memory back to the system, where it can be asked to (glibc)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status_bytes(field: str) -> int:
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def resident_peak_bytes() -> int:
    """The most memory that this process has held since its program was started.

    `ru_maxrss` survives `exec`: under a parent that is larger it tells the parent's peak, so it answers only where the system has
    nothing better.
    """
    return _status_bytes("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def restore_address_space(before: tuple[int, int]) -> None:
    """Set the soft `RLIMIT_AS` (bytes) back to what `before` says, as far as the hard limit of now allows.

    A script that has run out of memory leaves nothing to report with: its traceback holds what it had allocated, and a thread
    that cannot get its local storage ends the process.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = before[0]
    if hard != resource.RLIM_INFINITY and (wanted == resource.RLIM_INFINITY or wanted > hard):
        wanted = hard
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


class MemoryObserver:
    """Emits `memory` {resident_peak_bytes, budget_bytes, peak_bytes}: the last two count from where the script set its limit."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._base = 0
        self._peak_before = 0
        self._limits = resource.getrlimit(resource.RLIMIT_AS)

    def attach(self) -> None:
        """Watch the script setting `RLIMIT_AS`."""
        wrapt.wrap_function_wrapper(resource, "setrlimit", self._setrlimit)

    def _setrlimit(self, wrapped: Any, _instance: Any, args: Any, kwargs: Any) -> Any:
        which, limits = args[0], args[1]
        if which == resource.RLIMIT_AS and limits[0] != resource.RLIM_INFINITY and not self._base:
            self._base = address_space_bytes()
            self._peak_before = _status_bytes("VmPeak")
            self._emit("memory", budget_bytes=limits[0] - self._base)
        return wrapped(*args, **kwargs)

    def finish(self) -> None:
        """The script is over: the peaks, and room again for those who report."""
        fields: dict[str, int] = {"resident_peak_bytes": resident_peak_bytes()}
        if self._base:
            peak = _status_bytes("VmPeak")
            reached = peak if peak > self._peak_before else address_space_bytes()
            fields["peak_bytes"] = max(0, reached - self._base)
            restore_address_space(self._limits)
        self._emit("memory", **fields)
