"""Memory over the steps of a PyTorch script: resident, or CUDA-allocated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.frameworks.resources import resident_bytes
from harness.frameworks.watch import memory

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher


class Memory(memory.Memory):
    """Of the GPU, where one is in use."""

    def __init__(self, watch: TorchWatcher) -> None:
        super().__init__(watch.seen.memory, self._bytes)
        self._watch = watch

    @property
    def _on_gpu(self) -> bool:
        cuda = self._watch.torch.cuda
        return bool(cuda.is_available() and cuda.is_initialized())

    def _bytes(self) -> int:
        if self._on_gpu:
            return int(self._watch.torch.cuda.memory_allocated())
        # What is kept of the script's steps to experiment with is no growth of the script's.
        return resident_bytes() - self._watch.probes.kept_bytes

    def finish(self) -> None:
        """The slope over the last steps, in bytes a step; the peak of a GPU, and what the weights take."""
        super().finish()
        seen, model = self._watch.seen.memory, self._watch.seen.model
        if self._on_gpu:
            seen.peak = int(self._watch.torch.cuda.max_memory_allocated())
        if model is not None:
            seen.weights = sum(weight.size for weight in model.parameters) * 4 or None
