"""Memory over the steps: what a process, or a device, holds."""

from __future__ import annotations

import statistics
from collections.abc import Callable

from harness.checks.training_facts import MemoryFacts
from harness.frameworks.resources import release_freed

_STARTED, _SETTLED, _EVERY = 2, 10, 5
_POINTS = 400
# A careful reading costs a script what it has to fetch again from the system. After the first ones it is taken only where the plain size
# has grown since at a rate that makes up such a share of it over all steps, and later ones are so much further apart.
_FIRST = 2
_SHARE = 0.05
_RARER = 1.25


class Memory:
    """One reading a step, and while they grow every few steps one with care: memory that was freed and that the allocator still holds
    does not count there.

    What is watched beside a script leaves gaps in its heap, which look like growth otherwise.
    """

    def __init__(self, facts: MemoryFacts, now: Callable[[], int], *, wavers: bool = False) -> None:
        """`now`: bytes that are held. `wavers`: an allocator under the script's own gives memory back in large pieces."""
        self._facts, self._now, self._wavers = facts, now, wavers
        self._sizes: list[int] = []
        self._careful: list[tuple[int, int]] = []  # step, bytes
        self._next = _SETTLED

    def stepped(self) -> None:
        if len(self._sizes) < _POINTS:
            step, size = len(self._sizes), self._now()
            if step >= self._next:
                if len(self._careful) < _FIRST or self._plain_growth() * step > _SHARE * size:
                    release_freed()
                    size = self._now()
                    self._careful.append((step, size))
                self._next = max(step + (_EVERY if len(self._careful) < _FIRST else 3 * _EVERY), int(_RARER * (step - _SETTLED)))
            self._sizes.append(size)
        if len(self._sizes) > _STARTED + 1:
            # For the case that the kernel ends the script before it can be measured with care.
            grown = self._sizes[-1] - self._sizes[_STARTED]
            self._facts.growth_per_step = grown / (len(self._sizes) - 1 - _STARTED)

    def _plain_growth(self) -> float:
        """Bytes a step since the last careful reading, after which the first steps fetch again what was given back.

        Batches of different lengths leave a size that wavers: what is within it is no growth.
        """
        sizes = self._sizes[self._careful[-1][0] + _EVERY:]
        half = len(sizes) // 2
        first, second = sizes[:half], sizes[-half:]
        higher = max(second) - max(first)
        return higher / half if min(second) > max(first) or higher > max(first) - min(first) else 0.0

    @staticmethod
    def _by_halves(sizes: list[int]) -> float:
        """Bytes a step from the middle of the first half to that of the second."""
        half = len(sizes) // 2
        return (statistics.median(sizes[-half:]) - statistics.median(sizes[:half])) / half

    def finish(self) -> None:
        """The slope over the last steps, in bytes a step."""
        self._facts.growth_per_step, self._facts.steps = None, len(self._sizes)
        if len(self._careful) >= _FIRST:
            # Halves against each other: a cache that fills once leaves no slope in the second half.
            (begun, before), (ended, after) = self._careful[(len(self._careful) - 1) // 2], self._careful[-1]
            self._facts.growth_per_step = (after - before) / (ended - begun)
            # Where the script ends right after a careful reading, the steps before it have to have grown as well.
            late = self._sizes[ended + _EVERY:] if len(self._sizes) > ended + 2 * _EVERY else self._sizes[begun + _EVERY:ended]
            if self._wavers and len(late) >= _EVERY:
                self._facts.growth_per_step = min(self._facts.growth_per_step, self._by_halves(late))
            elif len(self._sizes) > ended + 2 * _EVERY:
                self._facts.growth_per_step = min(self._facts.growth_per_step, self._plain_growth())
