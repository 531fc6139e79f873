"""What the steps of a loop with a tape apply: whose gradients, which of them again, and against what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch.in_turn import InTurn
from harness.frameworks.watch.keras_piled import Piled
from harness.frameworks.watch.keras_swapped import Swapped
from harness.frameworks.watch.keras_tape import Taken
from harness.frameworks.watch.keras_trace import numpy_of

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_STEPS, _LARGEST = 240, 1 << 22


class Applied:
    """Told of every step."""

    def __init__(self, watch: KerasWatcher) -> None:
        self._watch = watch
        self._swapped, self._piled, self._in_turn = Swapped(watch.session), Piled(watch.session), InTurn()
        self._looked = 0

    def stepped(self, optimizer: Any, applied: list[Any], taken: Taken, asked: set[frozenset[int]]) -> None:
        """`applied`: pairs of gradient and weight; `asked`: all weights that any tape was asked about, by id."""
        session = self._watch.session
        session.safely("gradients of others", self._swapped.stepped, applied, taken.sources, taken.gradients, asked)
        session.safely("gradients of before", self._piled.stepped, applied, taken.sources, taken.gradients)
        session.safely("gradients of two losses", self._against, optimizer, applied)

    def _against(self, optimizer: Any, applied: list[Any]) -> None:
        place = self._watch.session.sites.place()
        if self._looked >= _STEPS or not self._in_turn.wants(id(optimizer), place):
            return
        pairs = [part for part in applied if isinstance(part, list | tuple) and len(part) == 2]
        sizes = sum(int(np.prod(part[1].shape)) for part in pairs)
        if sizes > _LARGEST:
            return
        self._looked += 1
        came = {id(weight): np.asarray(numpy_of(gradient)) for gradient, weight in pairs if hasattr(gradient, "numpy")}
        self._in_turn.stepped(id(optimizer), place, came)
        self._watch.seen.opposed = self._in_turn.facts() or self._watch.seen.opposed
