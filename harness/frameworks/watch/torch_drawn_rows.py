"""Rows of an evaluation that its dataset changes at random: what the model says of them, and what without that.

After the script. A switch or a transform of the dataset is set off for as long as its rows are read, and put back.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import inspect
import re
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.evaluation_facts import DrawnFacts
from harness.checks.tensor_facts import Site
from harness.frameworks.watch import motions, parsed, tensors, torch_datasets, trees
from harness.frameworks.watch.sites import Sites, site
from harness.frameworks.watch.torch_state import Frozen, generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_calls import RootCall
    from harness.frameworks.watch.torch_watch import TorchWatcher

_SECONDS, _ROWS, _LEAST = 1.0, 240, 50
_CHANGED = 0.5  # of the rows, from one reading to the next
_PLAIN = re.compile("eval|val|test|plain|clean|base|infer", re.IGNORECASE)


class DrawnRows:
    """Keeps the first call of an evaluation with a loader, and asks again in the end."""

    def __init__(self, watch: TorchWatcher) -> None:
        self._watch = watch
        self._call: RootCall | None = None
        self._collate: Any = None

    def answered(self, call: RootCall) -> None:
        """A model has answered to a batch of an evaluation."""
        if self._call is None and call.loader is not None and call.labels and not call.training:
            loader = call.loader.ref()
            self._call, self._collate = call, getattr(loader, "collate_fn", None)

    def measure(self) -> None:
        """Enters what was found; nothing where rows stay as they are, or nothing of the script's own that draws can be left out."""
        call, watch = self._call, self._watch
        if call is None or self._collate is None or not watch.steps.steps:
            return
        dataset = call.loader.dataset
        own = torch_datasets.whole(dataset)
        code = getattr(getattr(type(own), "__getitem__", None), "__code__", None)
        if code is None or not watch.session.sites.is_own(code.co_filename) or not hasattr(dataset, "__len__"):
            return
        training = watch.data.training_loader
        with generators_kept(watch.torch), own_generators_kept(own), watch.session.paused(), watch.torch.no_grad():
            found = self._compare(call, dataset, own)
        if found is not None:
            found.shared = training is not None and torch_datasets.whole(training.dataset) is own
            found.site = _made(type(own).__name__, found.what, watch.session.sites) or call.loader.facts.site
            watch.seen.evaluation.drawn = found

    def _compare(self, call: RootCall, dataset: Any, own: Any) -> DrawnFacts | None:
        places = np.linspace(0, len(dataset) - 1, min(_ROWS, len(dataset))).astype(int).tolist()
        first = _read(dataset, places)
        again = _read(dataset, places[:len(first)])
        if len(first) < _LEAST or len(again) < len(first):
            return None
        changed = sum(not _alike(one, other) for one, other in zip(first, again, strict=True))
        if changed < _CHANGED * len(first):
            return None
        for name, off, instead in _switches(own):
            with _set(own, name, off):
                plain, same = _read(dataset, places[:len(first)]), _read(dataset, places[:len(first)])
            if len(plain) == len(same) == len(first) and all(map(_alike, plain, same)) and _shapes(plain[0]) == _shapes(first[0]):
                told = [share for rows in (first, again, plain) if (share := self._told(call, rows)) is not None]
                return DrawnFacts(rows=len(first), own=(told[0] + told[1]) / 2, plain=told[2], what=name,
                                  instead=instead) if len(told) == 3 else None
        return None

    def _told(self, call: RootCall, rows: list[Any]) -> float | None:
        """The share of rows that the model tells rightly; None where its call cannot be made of a batch again."""
        before, right = trees.leaves(call.batch, tensors.is_tensor), 0
        given = {id(leaf): at for leaf in trees.leaves((call.args, call.kwargs), tensors.is_tensor)
                 for at, part in enumerate(before) if part.shape == leaf.shape and bool((part == leaf.to(part.device)).all())}
        wanted = next((at for at, part in enumerate(before) if tensors.whole_labels(part) == call.labels), None)
        if wanted is None or any(id(leaf) not in given for leaf in trees.leaves((call.args, call.kwargs), tensors.is_tensor)):
            return None
        size = max(1, len(call.labels or []))
        for start in range(0, len(rows), size):
            after = trees.leaves(self._collate(rows[start:start + size]), tensors.is_tensor)
            if len(after) != len(before):
                return None

            def exchanged(leaf: Any, after: list[Any] = after) -> Any:
                return after[given[id(leaf)]].to(leaf.device) if id(leaf) in given else leaf

            args, kwargs = trees.mapped(call.args, exchanged), trees.mapped(call.kwargs, exchanged)
            with Frozen(self._watch.torch, [call.module], [], []).held():
                call.module.eval()
                output = call.module(*args, **kwargs)
            classes = self._watch.evaluations.classes_of(dataclasses.replace(call, args=args, kwargs=kwargs, output=output))
            labels = tensors.whole_labels(after[wanted])
            if classes is None or labels is None or len(classes) != len(labels):
                return None
            right += sum(one == other for one, other in zip(classes, labels, strict=True))
        return right / len(rows)


def _read(dataset: Any, places: list[int]) -> list[Any]:
    begun, rows = time.monotonic(), []
    for place in places:
        rows.append(dataset[place])
        if time.monotonic() - begun > _SECONDS:
            break
    return rows


def _numbers(row: Any) -> list[Any]:
    """The arrays of a row, in order."""
    return [found for leaf in trees.leaves(row, tensors.is_array) if (found := tensors.array(leaf)) is not None]


def _alike(row: Any, other: Any) -> bool:
    one, two = _numbers(row), _numbers(other)
    return len(one) == len(two) and all(np.array_equal(part, same) for part, same in zip(one, two, strict=True))


def _shapes(row: Any) -> list[tuple[int, ...]]:
    return [part.shape for part in _numbers(row)]


def _switches(own: Any) -> Iterator[tuple[str, Any, str | None]]:
    """What a dataset may be told to leave out, by the names of its attributes: switches that are on, and transforms. In place of these
    the script may have another one, which is named then."""
    named = [(name, value) for name, value in vars(own).items() if motions.AUGMENTS.search(name)]
    yield from ((name, False, None) for name, value in named if value is True)
    yield from ((name, None, None) for name, value in named if callable(value))
    written = type(own).__getitem__.__globals__
    yield from ((name, other, called) for name, value in named if callable(value) for called, other in list(written.items())
                if other is not value and type(other) is type(value) and (not inspect.isfunction(other) or _PLAIN.search(called)))


@contextlib.contextmanager
def _set(own: Any, name: str, value: Any) -> Iterator[None]:
    before = vars(own)[name]
    vars(own)[name] = value
    try:
        yield
    finally:
        vars(own)[name] = before


def _made(kind: str, what: str, sites: Sites) -> Site | None:
    """Where a script makes a dataset of this class with that switch on; else where it last makes one."""
    calls = [node for node in ast.walk(parsed.tree(str(sites.script))) if isinstance(node, ast.Call)
             and getattr(node.func, "id", getattr(node.func, "attr", "")) == kind]
    calls.sort(key=lambda call: call.lineno)
    on = [call for call in calls if any(word.arg == what and ast.unparse(word.value) != "False" for word in call.keywords)]
    found = (on or calls)[-1:]
    return site((str(sites.script), found[0].lineno, "<module>")) if found and sites.is_own(str(sites.script)) else None
