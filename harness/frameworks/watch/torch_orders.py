"""The orders that a sampler draws for the passes of a training: are they different ones?"""

from __future__ import annotations

import ast
import functools
import sys
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.checks.data_facts import SameOrderFacts
from harness.frameworks.watch import parsed, written
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.passes import MOST_ROWS
from harness.frameworks.watch.row_seeds import SEEDS
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
    """Wraps the iterators of samplers that draw an order: `RandomSampler`, `DistributedSampler` where it shuffles, and a script's own that
    seeds a generator for each pass."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._known: weakref.WeakKeyDictionary[Any, _Passes] = weakref.WeakKeyDictionary()
        self._own: dict[type, Place] = {}  # a script's own samplers, and where they seed

    def attach(self) -> None:
        """Hook them."""
        data = self._watch.torch.utils.data
        distributed: Any = sys.modules.get("torch.utils.data.distributed")
        for owner in (data.RandomSampler, getattr(distributed, "DistributedSampler", None)):
            if owner is not None:
                self._watch.session.patches.replace(owner, "__iter__", self._wrap)
        self._watch.session.patches.replace(data.DataLoader, "__init__", self._wrap_loader)

    def _wrap_loader(self, original: Any) -> Any:
        session = self._watch.session

        @functools.wraps(original)
        def __init__(loader: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - stands for it
            original(loader, *args, **kwargs)
            if session.active:
                session.safely("a sampler", self._made, {type(loader.sampler), type(loader.batch_sampler)})

        return __init__

    def _made(self, kinds: set[type]) -> None:
        for kind in kinds - set(self._own):
            place = self._seeds(getattr(kind, "__iter__", None))
            if place is not None:
                self._own[kind] = place
                self._watch.session.patches.replace(kind, "__iter__", self._wrap)

    def _seeds(self, iterates: Any) -> Place | None:
        """Where a method of the script's own seeds a generator for each pass."""
        code = getattr(iterates, "__code__", None)
        if code is None or not self._watch.session.sites.is_own(code.co_filename):
            return None
        function = parsed.function(parsed.tree(code.co_filename), code.co_name, code.co_firstlineno)
        line = next((call.lineno for call in ast.walk(function) if isinstance(call, ast.Call) and name_of(call.func) in SEEDS),
                    None) if function is not None else None
        return (code.co_filename, line, code.co_qualname) if line is not None else None

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
                if len(first) < MOST_ROWS:
                    first += map(int, number) if isinstance(number, list | tuple) else [int(number)]
                yield number
        finally:
            if self._watch.steps.steps > steps:
                self._watch.session.safely("an order", self._trained, sampler, first[:_KEPT], seed)
            else:
                self._watch.session.safely("an order", self._watch.passes.drawn, sampler, first)

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
            seed=None if by_epoch else site(self._own.get(type(sampler), passes.seed)))
