"""Tensors that are kept with their history: by modules, as attributes or buffers, or by an evaluation that adds up its losses."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.frameworks.resources import resident_bytes
from harness.frameworks.watch import tensors, trees, written
from harness.frameworks.watch.sites import Place, Sites

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_ANSWERS = 400
_SEVERAL = 10
_WATCHED, _ALL = 20, 0.9  # what watches holds the last answers itself, though not so many; and the share that is all of them
_PASSES = 2  # after which nothing that watches holds a loss any more


def assignment(torch: Any, roots: list[Any], sites: Sites) -> Place | None:
    """Where a module of the script's own keeps such a tensor, None where none does."""
    for module in (module for root in roots for module in root.modules()):
        for name, value in {**vars(module), **module._buffers}.items():
            if torch.is_tensor(value) and value.grad_fn is not None:
                place = written.attribute(type(module), name, sites)
                if place is not None:
                    return place
    return None


class _Mark:
    """Lives as long as the node of a graph that it hangs on. `followed`: a backward pass has come through."""

    def __init__(self) -> None:
        self.followed = False


@dataclass
class _Made:
    """An answer with a graph, the number of the step that it came before, the lines that it was asked for from, and the process' size in
    bytes then."""

    mark: weakref.ref[_Mark]
    step: int
    stack: tuple[Place, ...]
    resident: int


class Unfollowed:
    """Answers with a graph that no backward pass goes through: how many steps the script holds one of, long after it was made.

    It may hold what became of it, a loss or a sum of losses: the graph is what takes the memory.
    """

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._made: list[_Made] = []
        self._new: list[_Made] = []
        self._resident = 0
        self._together: list[tuple[list[_Made], int]] = []
        self._most = (0, 0)  # answers since the last backward pass that lived at one time, and the bytes that they took
        self._followed: set[Place] = set()

    def answered(self, output: Any) -> None:
        """A model has run."""
        tensor = next((found for found in trees.leaves(output, tensors.is_tensor) if found.grad_fn is not None), None)
        if tensor is None or len(self._made) + len(self._new) >= _ANSWERS:
            return
        mark, stack = _Mark(), self._watch.session.sites.stack()

        def came_through(_gradients: Any) -> None:
            mark.followed = True
            self._followed.update(stack)

        tensor.grad_fn.register_prehook(came_through)
        resident = resident_bytes()
        self._resident = self._resident if self._new else resident
        self._new.append(_Made(weakref.ref(mark), self._watch.steps.steps, stack, resident))
        if len(self._new) % _SEVERAL == 0 and len(self._new) >= _WATCHED:
            living = sum(made.mark() is not None for made in self._new)
            if living > _ALL * len(self._new):
                self._most = max(self._most, (living, resident - self._resident))

    def backward(self) -> None:
        """A backward pass begins. Of the answers since the last one, those that are gone by now were not kept."""
        alive = [made for made in self._new if made.mark() is not None]
        self._passed()
        several = len(alive) >= _SEVERAL
        self._together.append((alive, (resident_bytes() - self._resident) // len(self._new)) if several else ([], 0))
        while len(self._together) > _PASSES:
            self._settled(*self._together.pop(0))
        if alive:  # what a function of the script's own holds is gone before the script is over
            self._count()
        self._made += alive
        self._new = []

    def _passed(self) -> None:
        """An evaluation is over: of its answers, those that lived together and are gone now, without a backward pass through any."""
        living, taken = self._most
        gone = [made for made in self._new if made.mark() is None and made.stack and not set(made.stack) <= self._followed]
        self._most = (0, 0)
        if min(living, len(gone)) >= _SEVERAL:
            self._at_once(gone[0], living, taken)

    def _at_once(self, first: _Made, number: int, size: int) -> None:
        memory = self._watch.seen.memory
        if size > memory.held_at_once:
            memory.graphs_at_once, memory.held_at_once = number, size
            self._watch.session.noted("kept_at_once", first.stack[0])

    def _settled(self, before: list[_Made], each: int) -> None:
        """Of the answers that lived when a backward pass began, `each` with so many bytes, those that the script still holds: what looked
        at them has let go by now, and a pass that came through is known."""
        made = [one for one in before if one.mark() is not None and one.stack and not set(one.stack) <= self._followed]
        if len(made) >= _SEVERAL:
            self._at_once(made[0], len(made), each * len(made))

    def finish(self) -> None:
        """How many steps' evaluations are held, now or at any time, and where the first of them asks for its answers."""
        self._passed()
        self._count()

    def _count(self) -> None:
        marks = [(made, made.mark()) for made in self._made]
        # What was let go of later may have been followed or not; at most it counts as an evaluation that was not kept.
        held = [made for made, mark in marks if mark is not None and not mark.followed]
        memory = self._watch.seen.memory
        if len(held) <= memory.graphs_kept:
            return
        memory.graphs_kept, memory.evaluations_kept = len(held), len({made.step for made in held})
        memory.graphs_held = max(0, held[-1].resident - held[0].resident)
        memory.evaluations = len({made.step for made, mark in marks if mark is None and not set(made.stack) <= self._followed}
                                 | {made.step for made in held})
        place = next((place for place in held[0].stack if place not in self._followed), None) if held else None
        self._watch.session.noted("kept_graph", place)
