"""The orders that a sampler draws for the passes of a training: are they different ones?"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.data_facts import SameOrderFacts
from harness.frameworks.watch import written
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_KEPT = 32  # of the first rows of a pass
_LEAST = 16  # rows: fewer come in the same order by chance


@dataclass
class _Passes:
    orders: list[list[int]] = field(default_factory=list)
    trained: int = 0  # models that were trained when the first of them ended
    seed: Place | None = None


class Orders:
    """Wraps the iterators of samplers that draw an order: `RandomSampler`, and `DistributedSampler` where it shuffles."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._known: weakref.WeakKeyDictionary[Any, _Passes] = weakref.WeakKeyDictionary()

    def attach(self) -> None:
        """Hook them."""
        data = self._watch.torch.utils.data
        distributed: Any = sys.modules.get("torch.utils.data.distributed")
        for owner in (data.RandomSampler, getattr(distributed, "DistributedSampler", None)):
            if owner is not None:
                self._watch.session.patches.replace(owner, "__iter__", self._wrap)

    def _wrap(self, original: Any) -> Any:
        watch = self._watch

        def __iter__(sampler: Any) -> Iterator[int]:  # noqa: N807 - stands for it
            made = original(sampler)
            if not watch.session.active or not getattr(sampler, "shuffle", True):
                return made  # type: ignore[no-any-return]
            return self._followed(sampler, made)

        return __iter__

    def _followed(self, sampler: Any, drawn: Iterator[int]) -> Iterator[int]:
        steps, first = self._watch.steps.steps, list[int]()
        stack = self._watch.session.seeds.since_step("manual_seed")
        seed = next((place for place in stack if written.repeated(place)), None)
        try:
            for number in drawn:
                if len(first) < _KEPT:
                    first.append(int(number))
                yield number
        finally:
            if self._watch.steps.steps > steps:
                self._watch.session.safely("an order", self._trained, sampler, first, seed)

    def _trained(self, sampler: Any, order: list[int], seed: Place | None) -> None:
        watch = self._watch
        passes = self._known.setdefault(sampler, _Passes())
        if len(watch.roots) != passes.trained:  # another model begins
            passes.orders, passes.trained = [], len(watch.roots)
        shared = min(map(len, [*passes.orders, order]))  # a pass may be left early
        passes.orders, passes.seed = [*passes.orders[-_KEPT:], order], seed or passes.seed
        alike = shared >= _LEAST and all(other[:shared] == order[:shared] for other in passes.orders)
        if len(passes.orders) < 2 or not alike:
            watch.seen.same_order = None
            return
        by_epoch = hasattr(sampler, "set_epoch")
        made = written.built(type(sampler).__name__, watch.session.script, watch.session.sites) if by_epoch else None
        watch.seen.same_order = SameOrderFacts(
            sampler=type(sampler).__name__, rows=len(sampler), passes=len(passes.orders), by_epoch=by_epoch, site=site(made),
            seed=None if by_epoch else site(passes.seed))
