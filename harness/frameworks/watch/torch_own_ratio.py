"""Ratios in a loss that are of a tensor to itself, both sides with a gradient: 1 with a derivative of 0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.checks.loss_facts import OwnRatioFacts
from harness.checks.observation import Observation
from harness.frameworks.watch import torch_graph
from harness.frameworks.watch.sites import site
from harness.frameworks.watch.torch_replay import Entry

_LEAST, _LOOKS, _DEEP = 8, 24, 24  # values; losses; steps of a loss's graph down to a ratio
_EXPONENTIALS, _QUOTIENTS, _DIFFERENCES = ("exp", "exp_"), ("div", "__truediv__", "true_divide", "divide"), ("SubBackward", "RsubBackward")


class OwnRatios:
    """Told of what a step recorded, before its loss goes backward."""

    def __init__(self, seen: Observation) -> None:
        self._seen, self._left, self._refuted = seen, _LOOKS, False

    @property
    def looking(self) -> bool:
        """Whether the search goes on."""
        return bool(self._left) and not self._refuted

    def committed(self, loss: Any, entries: Iterable[Entry]) -> None:
        """A loss is about to go backward. One ratio of two sides with a graph that is another than 1 anywhere ends the search."""
        if not self.looking:
            return
        self._left -= 1
        ratios = [entry for entry in entries if not entry.module and _of_two_sides(entry)
                  and torch_graph.comes_out_of(loss.grad_fn, [entry.result.grad_fn], _DEEP)]
        self._refuted = not all(bool((entry.result.detach() == 1).all()) for entry in ratios)
        if self._refuted:
            self._seen.own_ratio = None
        elif ratios:
            values, place = ratios[0].result.numel(), ratios[0].place
            known = self._seen.own_ratio = self._seen.own_ratio or OwnRatioFacts(values=values, site=site(place))
            known.steps += 1


def _of_two_sides(entry: Entry) -> bool:
    """Whether it is a quotient, or an exponential of a difference, of two sides of one shape that both have a graph."""
    name, result = getattr(entry.function, "__name__", ""), entry.result
    if name not in (*_EXPONENTIALS, *_QUOTIENTS) or getattr(result, "grad_fn", None) is None or result.numel() < _LEAST:
        return False
    last = result.grad_fn
    if name in _EXPONENTIALS:  # of a difference of two logarithms
        last = last.next_functions[0][0] if last.next_functions else None
        if last is None or not type(last).__name__.startswith(_DIFFERENCES):
            return False
    elif not (len(entry.args) == 2 and getattr(entry.args[1], "shape", None) == result.shape):
        return False
    return len(last.next_functions) == 2 and all(function is not None for function, _ in last.next_functions)
