"""Rows that are another one with each reading: how far two readings of one row are apart, beside readings of two rows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import RedrawnFacts
from harness.frameworks.watch import row_seeds, tensors, torch_batches, torch_datasets, written
from harness.frameworks.watch.sites import Place, site
from harness.frameworks.watch.torch_state import generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.torch_watch import TorchWatcher

_SECONDS = 0.5
_ROWS, _LEAST, _NUMBERS = 32, 8, 16

Array = np.ndarray[Any, np.dtype[Any]]


def measure(watch: TorchWatcher) -> None:
    """Enters what rows of numbers show that are read twice. After the script; random generators that the dataset holds are put back."""
    loader = watch.data.training_loader
    dataset = loader.dataset if loader is not None else None
    if watch.seen.overwritten is not None or dataset is None or not hasattr(dataset, "__len__"):
        return
    own = torch_datasets.whole(dataset)
    code = getattr(getattr(type(own), "__getitem__", None), "__code__", None)
    if code is None or not watch.session.sites.is_own(code.co_filename):
        return
    if loader is not None and loader.begun > 1:
        watch.session.noted("seeded_rows", row_seeds.written(type(own).__getitem__, watch.session.sites))
    with generators_kept(watch.torch), own_generators_kept(own):
        first, second = _twice(dataset)
        more = _twice(dataset)  # a few rows more or less covered make a difference
    if first and more[0] and first[0].shape == more[0][0].shape:
        first, second = first + more[0], second + more[1]
    if len(first) < _LEAST:
        return
    same, other = _apart(first, second), _apart(first, [*second[1:], second[0]])
    if same > 0 and other > 0:
        watch.seen.redrawn = RedrawnFacts(rows=len(first), same=same, other=other, site=site(_drawing(watch, own)))


def _twice(dataset: Any) -> tuple[list[Array], list[Array]]:
    begun, first, second = time.monotonic(), [], []
    for number in np.linspace(0, len(dataset) - 1, min(_ROWS, len(dataset))).astype(int).tolist():
        readings = [_numbers(dataset[number]) for _ in range(2)]
        if readings[0] is None or readings[1] is None or readings[0].shape != readings[1].shape or time.monotonic() - begun > _SECONDS:
            break
        first.append(readings[0])
        second.append(readings[1])
    alike = [number for number, row in enumerate(first) if row.shape == first[0].shape]
    return [first[number] for number in alike], [second[number] for number in alike]


def _numbers(row: Any) -> Array | None:
    """The first array of a row that holds many numbers."""
    for part in torch_batches.columns_of(row).values():
        array = tensors.array(part) if tensors.is_tensor(part) else part if isinstance(part, np.ndarray) else None
        if array is not None and array.dtype.kind == "f" and array.size >= _NUMBERS:
            return array.astype(np.float64)
    return None


def _apart(ones: list[Array], others: list[Array]) -> float:
    return float(np.sqrt(np.mean([np.mean((one - other) ** 2) for one, other in zip(ones, others, strict=True)])))


def _drawing(watch: TorchWatcher, dataset: Any) -> Place | None:
    """Where the script builds what changes the rows, if it is an object of a class of its own, or else where a row is made."""
    sites = watch.session.sites
    for value in vars(dataset).values():
        code = getattr(vars(type(value)).get("__call__"), "__code__", None)
        built = written.built(type(value).__name__, sites.script, sites) if code is not None and sites.is_own(code.co_filename) else None
        if built is not None:
            return built
    return written.last_made(getattr(type(dataset), "__getitem__", None), sites)
