"""What answers of a PyTorch model owe to the filler at the ends of rows."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from harness.checks.probe_facts import EndsReadFacts
from harness.frameworks.watch import ends_read, neighbours, tensors

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_backend import Step, TorchBackend


def measure(backend: TorchBackend, steps: list[Step]) -> EndsReadFacts | None:
    """Facts of the first step whose rows end in filler, in evaluation mode."""
    return next((found for step in steps if (found := _of_step(backend, step)) is not None), None)


def _of_step(backend: TorchBackend, step: Step) -> EndsReadFacts | None:
    replay = step[0]
    if any("attention_mask" in kwargs and type(function).__module__.startswith("transformers.")
           for function, _, kwargs, _, is_model, _ in replay.entries if is_model):
        return None  # these do with a mask what they should
    given = [tensor for tensor in replay.inputs() if neighbours.in_steps(tensor.shape, floats=tensor.is_floating_point())]
    target = replay.target
    if len(step) != 1 or not given or target is None or tuple(target.shape[:2]) == tuple(given[0].shape[:2]):
        return None  # each step of a row has a target of its own
    shape = tuple(given[0].shape[:2])

    def answers(width: int) -> Any:
        def cut(tensor: Any) -> Any:
            return tensor[:, :width] if tuple(tensor.shape[:2]) == shape else tensor

        # Layers of one length take no less.
        with contextlib.suppress(Exception), backend.evaluating():
            made = [part for part in backend.outputs(replay, cut) if part.shape[0] == shape[0]]
            return tensors.array(made[-1].cpu()) if made else None
        return None

    plain = tensors.array(given[0].cpu())
    return ends_read.measure(plain, answers) if plain is not None else None
