"""Memory over the steps: resident (or CUDA-allocated) bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.frameworks.resources import release_freed, resident_bytes

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

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

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
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
            self._watch.seen.memory.growth_per_step = grown / (len(self._sizes) - 1 - _STARTED)

    def _plain_growth(self) -> float:
        """Bytes a step since the last careful reading, after which the first steps fetch again what was given back.

        Batches of different lengths leave a size that wavers: what is within it is no growth.
        """
        sizes = self._sizes[self._careful[-1][0] + _EVERY:]
        half = len(sizes) // 2
        first, second = sizes[:half], sizes[-half:]
        higher = max(second) - max(first)
        return higher / half if min(second) > max(first) or higher > max(first) - min(first) else 0.0

    def _now(self) -> int:
        cuda = self._watch.torch.cuda
        if cuda.is_available() and cuda.is_initialized():
            return int(cuda.memory_allocated())
        # What is kept of the script's steps to experiment with is no growth of the script's.
        return resident_bytes() - self._watch.probes.kept_bytes

    def finish(self) -> None:
        """The slope over the last steps, in bytes a step."""
        seen = self._watch.seen.memory
        if self._watch.torch.cuda.is_available() and self._watch.torch.cuda.is_initialized():
            seen.peak = int(self._watch.torch.cuda.max_memory_allocated())
        seen.growth_per_step = None
        if len(self._careful) >= _FIRST:
            # Halves against each other: a cache that fills once leaves no slope in the second half.
            (begun, before), (ended, after) = self._careful[(len(self._careful) - 1) // 2], self._careful[-1]
            seen.growth_per_step = (after - before) / (ended - begun)
            if len(self._sizes) > ended + 2 * _EVERY:
                seen.growth_per_step = min(seen.growth_per_step, self._plain_growth())
        model = self._watch.seen.model
        if model is not None:
            seen.weights = sum(weight.size for weight in model.parameters) * 4 or None
