"""Gradients that are set to zero too seldom, by one of several optimizers, or too often: before anybody has stepped."""

from __future__ import annotations

import ast
import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.training_facts import ThrownFacts, UnzeroedFacts
from harness.frameworks.watch import parsed, tensors, trees
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_optimizer import Optimizer
    from harness.frameworks.watch.torch_watch import TorchWatcher

_STEPS = 6
_MOST = 30
_WHOLE = 0.5
_ROWS, _APART = 8, 0.5  # by how much of their spread, or in what share of their places, rows differ that are others

Array = np.ndarray[Any, Any]


class Zeroing:
    """Holds the gradients that an optimizer's backward passes began with against those of its step before."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._since: Place | None = None  # where gradients were set to zero last, since the last backward pass
        self._before: Place | None = None  # and between that one and the one before it
        self.wiped = False  # gradients were set to zero after the last backward pass
        self._kept: dict[int, list[tuple[float, float]]] = {}
        self._places: dict[int, Place | None] = {}
        self._batch: Any = None  # or the first numbers of its rows: of the last backward pass, while no optimizer has stepped since
        self._passes = self._lost = 0  # backward passes since the last step; those whose gradients were zeroed before another batch's came
        self._thrown: list[tuple[int, int]] = []
        self._step: Place | None = None

    def called(self) -> None:
        """`zero_grad()` of anything."""
        self.wiped = True
        if self._wanted():
            self._since = self._watch.session.sites.place()

    def going_back(self) -> None:
        """A backward pass begins."""
        batch = self._watch.data.batch
        if batch is None and len(self._thrown) < _MOST:
            batch = self._watch.session.safely("rows that no loader brought", self._given)
        self._passes += 1
        # A second pass over the same batch is another matter: an attack on its inputs, or a penalty.
        self._lost += self.wiped and self._batch is not None and batch is not None and _others(batch, self._batch)
        self._batch, self.wiped = batch, False
        self._before, self._since = self._since, None

    def _given(self) -> Array | None:
        """The first numbers that the last model was given, of rows that the script's own code delivers."""
        calls, is_tensor = self._watch.pending.calls[-1:], self._watch.torch.is_tensor
        given = next((value for call in calls for value in trees.leaves([call.args, call.kwargs], is_tensor)
                      if value.dim() and tensors.is_strided(value)), None)
        if given is None:
            return None
        with self._watch.session.paused():
            return tensors.array(given.detach()[:_ROWS])

    def about_to_step(self, known: Optimizer) -> None:
        """An optimizer is about to step; after `going_back` of what it steps for."""
        if self._passes and len(self._thrown) < _MOST:
            self._thrown.append((self._passes, self._lost))
            self._step = self._watch.session.sites.place()
        self._batch, self._passes, self._lost = None, 0, 0
        kept = self._kept.setdefault(id(known), [])
        if not self._wanted() or len(kept) >= _MOST or not known.backwards or not isinstance(known.zeroed, float):
            return
        norm = known.norm if known is self._watch.steps.main else self._watch.steps.norm_of_gradients(known.weights())
        if isinstance(norm, float):
            kept.append((known.zeroed, norm))
            # The call that stands where its own was meant; without one, where it steps.
            self._places[id(known)] = self._since or self._before or self._watch.session.sites.place()

    def finish(self) -> None:
        """The first optimizer of several whose gradients were never gone; and steps of an only one that nearly all passes were lost for."""
        # A script that reads or writes gradients itself may put back what it has zeroed.
        by_hand = any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in ast.walk(parsed.tree(str(
            self._watch.session.script))))
        if len(self._thrown) >= _STEPS and len(self._watch.steps.stepping) == 1 and not by_hand:
            backwards, thrown = map(list, zip(*self._thrown, strict=True))
            if all(lost >= max(2, passes - 1) for passes, lost in self._thrown):
                self._watch.seen.thrown = ThrownFacts(backwards=backwards, thrown=thrown, site=site(self._step),
                                                       now_and_then=_in_an_if(self._step))
        if len(self._kept) < 2:
            return
        for known in self._watch.steps.stepping:
            pairs = self._kept.get(id(known), [])
            shares = [before / norm for (before, _), (_, norm) in zip(pairs[1:], pairs, strict=False) if norm > 0]
            if len(shares) >= _STEPS and all(shares) and statistics.median(shares) >= _WHOLE:
                self._watch.seen.unzeroed = UnzeroedFacts(
                    kind=type(known.optimizer).__name__, optimizer=site(known.place), site=site(self._places[id(known)]),
                    before=[before for before, _ in pairs[1:]])
                return

    def _wanted(self) -> bool:
        return self._watch.steps.steps < _MOST and len(self._watch.steps.known_optimizers()) > 1


def _others(batch: Any, before: Any) -> bool:
    """Whether two batches are of other rows; one that was changed a little, by an attack, is of the same."""
    if not (isinstance(batch, np.ndarray) and isinstance(before, np.ndarray)):
        return batch is not before
    if batch.shape != before.shape:
        return True
    if batch.dtype.kind != "f":
        return bool((batch != before).mean() > _APART)
    return bool(np.abs(batch - before).mean() > _APART * before.std())


def _in_an_if(place: Place | None) -> bool:
    """Whether a line stands under a condition."""
    return place is not None and any(part.lineno <= place[1] <= (part.end_lineno or part.lineno) for node in ast.walk(parsed.tree(place[0]))
                                     if isinstance(node, ast.If) for part in node.body)
