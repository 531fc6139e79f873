"""Where a script's own arithmetic on arrays makes NaN or infinity, as numpy itself warns of it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.sites import HARNESS

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_TOLD = ("divide by zero encountered", "invalid value encountered", "overflow encountered")


class Arithmetic:
    """Hears numpy's warnings (numpy docs, `seterr`): each comes once for a line, and not at all where the script switches them off."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session

    def attach(self) -> None:
        """Hook how warnings are shown."""
        self._session.patches.replace(warnings, "showwarning", self._wrap)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def showwarning(message: Any, category: Any, *args: Any, **kwargs: Any) -> Any:
            if self._session.active and category is RuntimeWarning and str(message).startswith(_TOLD) and not _measured(sys._getframe(1)):
                self._session.safely("numbers that are none", self._heard)
            return original(message, category, *args, **kwargs)

        return showwarning

    def _heard(self) -> None:
        if not self._session.observation.steps and "bad_input" not in self._session.observation.sites:
            self._session.site("bad_input")


def _measured(frame: FrameType | None) -> bool:
    """Whether it is the harness that asked numpy for this: statistics of what holds no numbers are none themselves."""
    while frame is not None and (frame.f_code.co_filename == warnings.__file__ or "/numpy/" in frame.f_code.co_filename):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(HARNESS)
