"""One training step done again: the calls that made its loss, on the same batch with other weights or inputs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from harness.frameworks.watch import trees
from harness.frameworks.watch.sites import Place


@dataclass(frozen=True)
class Slot:
    """Stands for a tensor that an earlier entry of a replay makes."""

    number: int


@dataclass
class Entry:
    """One recorded call. `module`: the call is of a model, which is `function`."""

    function: Callable[..., Any]
    args: Any
    kwargs: Any
    result: Any
    module: bool = False
    place: Place | None = None


@dataclass
class Replay:
    """The calls that make one loss. `entries`: function, arguments with `Slot`s, slots of the tensors in the result, is-a-model, place.

    `at`: the place in the script of the call that is being done again.
    `targets`: of its loss functions, equal ones once; `labels`: of its rows where known; `exact`:
    False where something of an earlier step had to be taken as a constant.
    """

    torch: Any
    entries: list[tuple[Callable[..., Any], Any, Any, list[int], bool, Place | None]]
    loss_slot: int
    autocast: tuple[str, Any] | None
    modules: list[Any]
    leaf_weights: list[Any]
    exact: bool = True
    constant_bytes: int = 0
    at: Place | None = None
    labels: list[Any] | None = None
    logits_slot: int | None = None
    target: Any = None
    targets: list[Any] = field(default_factory=list)
    loss_name: str = ""
    outputs: list[Any] = field(default_factory=list)

    def term(self, function: str, line: int | None) -> int | None:
        """The slot of what a function of torch's made at a line of the script: a term of the loss."""
        made = [slots for called, _, _, slots, _, place in self.entries
                if getattr(called, "__name__", "") == function and place is not None and place[1] == line and slots]
        return made[-1][0] if made else None

    def run(self, change_input: Callable[[Any], Any] | None = None, *, want_outputs: bool = False, slot: int | None = None,
            given: dict[int, Any] | None = None) -> Any:
        """The loss, or what is in another slot, with its graph. `change_input` is applied to the tensors that models are given from
        outside; `given` stands, by slots, in the place of what models, or other calls, make."""
        return self._made(change_input, want_outputs=want_outputs, given=given)[self.loss_slot if slot is None else slot]

    def pull(self) -> tuple[Any, Any]:
        """What the loss function is given, and the gradient of the loss by it; None for both where either is not known."""
        made = self._made(None)
        logits = made.get(self.logits_slot) if self.logits_slot is not None else None
        if logits is None or not logits.requires_grad:
            return None, None
        return logits, self.torch.autograd.grad(made[self.loss_slot], logits, allow_unused=True)[0]

    def numbers(self) -> dict[int, float]:
        """By its slot: every single number, a float tensor without axes, on the way to the loss."""
        return {slot: float(value.detach()) for slot, value in self._made(None).items()
                if value.dim() == 0 and value.is_floating_point() and slot != self.loss_slot}

    def _made(self, change_input: Callable[[Any], Any] | None, *, want_outputs: bool = False,
              given: dict[int, Any] | None = None) -> dict[int, Any]:
        made: dict[int, Any] = {}
        is_tensor = self.torch.is_tensor

        def fill(value: Any) -> Any:
            return made[value.number] if isinstance(value, Slot) else value

        def fill_changed(value: Any) -> Any:
            if isinstance(value, Slot):
                return made[value.number]
            return change_input(value) if change_input is not None and is_tensor(value) else value

        self.outputs = []
        with self._context():
            for function, args, kwargs, slots, is_model, place in self.entries:
                self.at = place
                use = fill_changed if is_model else fill
                result = function(*trees.mapped(args, use), **trees.mapped(kwargs, use))
                found = trees.leaves(result, is_tensor)
                made.update(zip(slots, found, strict=False))
                made.update({slot: given[slot] for slot in slots if slot in given} if given else {})
                if is_model and want_outputs:
                    self.outputs.append([tensor.detach() for tensor in found])
        if want_outputs and self.logits_slot is not None:
            self.outputs.append([made[self.logits_slot].detach()])
        return made

    def inputs(self) -> list[Any]:
        """The tensors that models are given from outside."""
        return [tensor for _, args, kwargs, _, is_model, _ in self.entries if is_model
                for tensor in trees.leaves([args, kwargs], self.torch.is_tensor)]

    def first_rows(self) -> int:
        """Rows (first axis) of the first tensor that a model is given from outside; 0 where there is none."""
        for _, args, kwargs, _, is_model, _ in self.entries:
            given = trees.leaves([args, kwargs], self.torch.is_tensor) if is_model else []
            if given and given[0].dim():
                return int(given[0].shape[0])
        return 0

    def _context(self) -> Any:
        if self.autocast is None:
            return contextlib.nullcontext()
        return self.torch.autocast(self.autocast[0], dtype=self.autocast[1])
