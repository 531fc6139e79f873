"""Memory over the steps: resident (or CUDA-allocated) bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.frameworks.resources import release_freed, resident_bytes

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STARTED, _SETTLED, _EVERY = 2, 10, 5
_POINTS, _LEAST = 400, 4
# A careful reading costs a script what it has to fetch again from the system: later ones are so much further apart.
_RARER = 1.25


class Memory:
    """One reading a step, every few steps with care: memory that was freed and that the allocator still holds does not count there.

    What is watched beside a script leaves gaps in its heap, which look like growth otherwise.
    """

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._sizes: list[int] = []
        self._careful: list[tuple[int, int]] = []  # step, bytes
        self._next = _SETTLED

    def stepped(self) -> None:
        if len(self._sizes) < _POINTS:
            step = len(self._sizes)
            careful = step >= self._next
            if careful:
                release_freed()
                self._next = max(step + _EVERY, int(_RARER * (step - _SETTLED)))
            self._sizes.append(self._now())
            self._careful += [(step, self._sizes[-1])] if careful else []
        if len(self._sizes) > _STARTED + 1:
            # For the case that the kernel ends the script before it can be measured with care.
            grown = self._sizes[-1] - self._sizes[_STARTED]
            self._watch.seen.memory.growth_per_step = grown / (len(self._sizes) - 1 - _STARTED)

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
        if len(self._careful) >= _LEAST:
            # Halves against each other: a cache that fills once leaves no slope in the second half.
            (begun, before), (ended, after) = self._careful[len(self._careful) // 2], self._careful[-1]
            seen.growth_per_step = (after - before) / (ended - begun)
        model = self._watch.seen.model
        if model is not None:
            seen.weights = sum(weight.size for weight in model.parameters) * 4 or None
