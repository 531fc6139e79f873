"""The memory that a script may take, and what it took, as the kernel accounts for it."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

from harness.frameworks.resources import address_space_bytes, resident_peak_bytes, restore_address_space

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession


class Limits:
    """Sees the script set `RLIMIT_AS`, which is how memory is made scarce without a small machine."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._before = resource.getrlimit(resource.RLIMIT_AS)

    def attach(self) -> None:
        """Hook `resource.setrlimit`."""
        self._session.patches.replace(resource, "setrlimit", self._wrap)

    def _wrap(self, original: Any) -> Any:
        session = self._session

        def setrlimit(which: int, limits: tuple[int, int]) -> None:
            if session.active and which == resource.RLIMIT_AS and limits[0] != resource.RLIM_INFINITY:
                session.observation.memory.budget = limits[0] - address_space_bytes()
            original(which, limits)

        return setrlimit

    def finish(self) -> None:
        """The script is over: its resident peak, and room again for what is looked into afterwards."""
        self._session.observation.memory.peak = resident_peak_bytes()
        if self._session.observation.memory.budget is not None:
            restore_address_space(self._before)
