"""Bytes of a file that are read as numbers: in the order and width in which they were written?

Read in another one, a sound or a picture is noise: neighbouring numbers have nothing to do with each other any more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import BytesFacts
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_LEAST, _LARGEST, _READS, _CALLS, _ENOUGH = 200, 1 << 22, 64, 1000, 2000
# How far neighbours of noise differ by its standard deviation (2 / sqrt(pi) for normal, 1.15 for even noise), at least; and the part of
# that which is left in the other order.
_NOISE, _SMOOTHER = 0.9, 0.7
_MOST = 0.9  # of the reads


class RawBytes:
    """Wraps the functions of numpy that read bytes."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._reads = self._calls = 0
        self._astray: list[tuple[np.dtype[Any], np.dtype[Any], float, int, Place | None]] = []

    def attach(self) -> None:
        """Hook `frombuffer` and `fromfile`."""
        for name in ("frombuffer", "fromfile"):
            self._session.patches.replace(np, name, self._wrap)

    def _wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def read(*args: Any, **kwargs: Any) -> Any:
            made = original(*args, **kwargs)
            wanted = _LEAST <= made.size <= _LARGEST and made.dtype.kind in "iu"
            if wanted and self._session.active and self._reads < _READS and self._calls < _CALLS:
                self._session.safely("bytes", self._look, made)
            return made

        return read

    def _look(self, made: np.ndarray[Any, Any]) -> None:
        self._calls += 1  # libraries read bytes as well, and that is not looked at
        place = self._session.sites.place()
        if place is None:
            return
        self._reads += 1
        as_read = _roughness(made)
        best = min(((_roughness(made.view(other)), other) for other in _others(made)), default=None, key=lambda each: each[0])
        if best is not None and as_read > _NOISE and best[0] < _SMOOTHER * as_read:
            self._astray.append((made.dtype, best[1], as_read / max(best[0], 1e-6), made.size, place))

    def facts(self) -> BytesFacts | None:
        """What nearly all reads say alike; None where they do not."""
        if not self._astray or len(self._astray) < _MOST * self._reads or sum(size for *_, size, _ in self._astray) < _ENOUGH:
            return None
        as_read, other, rougher, _, place = self._astray[0]
        if any(read[:2] != (as_read, other) for read in self._astray):
            return None
        return BytesFacts(read_as=as_read.str, written_as=other.str, rougher=rougher, reads=len(self._astray), site=site(place))


def _others(made: np.ndarray[Any, Any]) -> list[np.dtype[Any]]:
    """Other kinds of whole numbers that the same bytes may be."""
    kinds = [made.dtype.newbyteorder(), np.dtype("<i2")] if made.dtype.itemsize > 1 else [np.dtype("<i2")]
    return [kind for kind in kinds if kind != made.dtype and made.nbytes % kind.itemsize == 0]


def _roughness(numbers: np.ndarray[Any, Any]) -> float:
    """How far neighbours differ on the average, by the standard deviation; infinite where all are the same."""
    values: np.ndarray[Any, Any] = numbers.astype(np.float64)
    spread = float(values.std())
    return float(np.abs(np.diff(values)).mean()) / spread if spread > 0 else np.inf
