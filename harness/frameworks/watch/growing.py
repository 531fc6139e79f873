"""Functions of the script's own that a model calls more often with every step: hooks that are registered anew and never removed."""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from harness.checks.training_facts import GrowingFacts
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_EVERY, _MOST = 8, 6  # every so many steps one is counted, and so many of them
_LONGEST = 300_000  # events of one step
_LEAST, _OUTLIERS = 4, 2  # counted steps that lie on one line, and how many need not (an evaluation came between)
_CALLING = ("torch/nn/modules/module.py", "keras/src/layers/layer.py", "keras/src/engine/base_layer.py",
            "keras/src/utils/traceback_utils.py")


class Growing:
    """Counts, on some steps, which of the script's functions a model calls, and what else the script calls around it."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._steps = 0
        self._counted: list[tuple[int, Counter[CodeType]]] = []
        self._on, self._events = False, 0
        self._handed: Counter[CodeType] = Counter()
        self._callers: dict[CodeType, Place] = {}
        self._around: set[CodeType] = set()  # what the steps are taken in

    def stepped(self) -> None:
        """A step is over; the one that begins now is counted where it is its turn."""
        self._stop()
        self._steps += 1
        if self._steps % _EVERY == 0 and len(self._counted) < _MOST and sys.getprofile() is None and self._session.active:
            self._around |= {frame.f_code for frame in self._session.sites.frames()}
            self._counted.append((self._steps, Counter()))
            self._on, self._events = True, 0
            sys.setprofile(self._look)

    def _stop(self) -> None:
        if self._on and sys.getprofile() == self._look:  # and not the script's own
            sys.setprofile(None)
        self._on = False

    def _look(self, frame: FrameType, event: str, _: Any) -> None:
        self._events += 1
        if self._events > _LONGEST:  # training is over, it seems, and something else is not to be slowed down
            self._stop()
            self._counted.pop()
            return
        if event == "call" and self._session.active:
            self._session.safely("a call", self._count, frame)  # what is raised here would be raised in the script

    def _count(self, frame: FrameType) -> None:
        code, outer, own = frame.f_code, frame.f_back, self._session.sites.is_own
        if not own(code.co_filename):
            registers = code.co_name.startswith("register_") and code.co_filename.endswith(_CALLING)
            if registers and outer is not None and own(outer.f_code.co_filename):
                self._called(code, outer)
        elif code.co_name.startswith("<"):
            return
        elif _in_a_model(outer):
            self._counted[-1][1][code] += 1
        elif outer is not None and own(outer.f_code.co_filename) and code not in self._around and _given_a_layer(frame):
            self._called(code, outer)

    def _called(self, code: CodeType, outer: FrameType) -> None:
        """A function that is given a layer, outside of every model: it may add to what the layer calls."""
        self._handed[code] += 1
        self._callers[code] = outer.f_code.co_filename, outer.f_lineno, outer.f_code.co_name

    def finish(self) -> GrowingFacts | None:
        """The function whose calls grow fastest, by the same number with every step; None where none does."""
        self._stop()
        every = {code for _, counted in self._counted for code in counted}
        lines = {code: _line([(step, counted[code]) for step, counted in self._counted]) for code in every}
        grown = max((code for code in every if lines[code]), key=lambda code: len(lines[code]) * lines[code][-1][1], default=None)
        if grown is None:
            return None
        return GrowingFacts(function=grown.co_qualname.rpartition("<locals>.")[2], counts=lines[grown], site=site(self._registered(grown)),
                            defined=site((grown.co_filename, grown.co_firstlineno, grown.co_name)))

    def _registered(self, grown: CodeType) -> Place:
        """Where what makes it grow is called in every step: the function that it is made in, else one that is given a layer."""
        maker = grown.co_qualname.rpartition(".<locals>.")[0]
        always = [code for code in self._callers if self._handed[code] >= len(self._counted) - 1]
        found = next((code for code in always if code.co_qualname == maker), None) or (always[0] if len(always) == 1 else None)
        return self._callers[found] if found is not None else (grown.co_filename, grown.co_firstlineno, grown.co_name)


def _in_a_model(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.endswith(_CALLING):
            return True
        frame = frame.f_back
    return False


def _given_a_layer(frame: FrameType) -> bool:
    code = frame.f_code
    given = [frame.f_locals.get(name) for name in code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]]
    return any(cls.__name__ in ("Module", "Layer") for value in given for cls in type(value).__mro__)


def _line(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The points of the longest rising line that most of them lie on; none where that is not so."""
    best: list[tuple[int, int]] = []
    for (step, count), (later, more) in itertools.combinations(points, 2):
        slope = (more - count) / (later - step)
        on = [point for point in points if abs(count + slope * (point[0] - step) - point[1]) < 1e-6]
        if slope >= 1 and len(on) > len(best):
            best = on
    return best if len(best) >= max(_LEAST, len(points) - _OUTLIERS) else []
