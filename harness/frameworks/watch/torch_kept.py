"""Tensors that are kept with their history: by modules, as attributes or buffers, or by an evaluation that adds up its losses."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch import torch_graph, written
from harness.frameworks.watch.sites import Place, Sites, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_LOSSES, _NODES = 400, 200


def assignment(torch: Any, roots: list[Any], sites: Sites) -> Place | None:
    """Where a module of the script's own keeps such a tensor, None where none does."""
    for module in (module for root in roots for module in root.modules()):
        for name, value in {**vars(module), **module._buffers}.items():
            if torch.is_tensor(value) and value.grad_fn is not None:
                place = written.attribute(type(module), name, sites)
                if place is not None:
                    return place
    return None


@dataclass
class _Made:
    """A loss with a graph, the number of the step that it came before, and the lines that it was asked for from."""

    loss: weakref.ref[Any]
    step: int
    stack: tuple[Place, ...]


class Unfollowed:
    """Losses with a graph that no backward pass follows: how many steps the script holds one of, long after it was made."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._made: list[_Made] = []
        self._new: list[_Made] = []
        self._followed: set[Place] = set()

    def made(self, loss: Any) -> None:
        """A loss function has been called."""
        if loss.requires_grad and len(self._made) + len(self._new) < _LOSSES:
            self._new.append(_Made(weakref.ref(loss), self._watch.steps.steps, self._watch.session.sites.stack()))

    def backward(self, loss: Any) -> None:
        """Of the losses since the last backward pass, those that this one goes through are no evaluation's."""
        alive = [(made, kept) for made in self._new if (kept := made.loss()) is not None]
        self._new = []
        for made, kept in alive:
            if kept is loss or torch_graph.leads_to(loss, [kept], _NODES):
                self._followed.update(made.stack)
            else:
                self._made.append(made)

    def finish(self) -> None:
        """How many steps' evaluations are still held, and where the first of them asks for its loss."""
        kept = [made for made in self._made
                if (loss := made.loss()) is not None and loss.grad_fn is not None and not torch_graph.freed(loss)]
        memory = self._watch.seen.memory
        memory.evaluations_kept = len({made.step for made in kept})
        memory.evaluations = len({made.step for made in self._made})
        if kept:
            self._watch.session.site("kept_loss", site(next((place for place in kept[0].stack if place not in self._followed), None)))
