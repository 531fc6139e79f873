"""Rows that are kept in the order of time: a column that is a mean over targets of the rows around its own."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.probe_facts import AheadFacts
from harness.frameworks.watch import tensors, torch_batches, written
from harness.frameworks.watch.torch_state import generators_kept, own_generators_kept

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher
    from harness.frameworks.watch.torch_watch import TorchWatcher

_AROUND, _LEAST, _MOST, _COLUMNS = 8, 150, 600, 256
_EXACT, _PART, _TAPS = 1e-3, 0.02, 3  # of a column's deviation; of the largest factor, under which one is none; values that are averaged
_GOES, _ROUGH = 0.5, 0.01  # correlation of neighbours; what of a series its own past leaves open, in deviations
_SECONDS = 0.5

Array = np.ndarray[Any, Any]


def measure(rows: Array, wanted: Array) -> AheadFacts | None:
    """`rows`: float[rows, features] and their targets float[rows], in the order of time. The first column that comes out exactly as a mean
    of targets, each with a positive weight, that of its own row or of a later one among them.

    A series that its own past foretells to the last digit says nothing: each of its functions comes out of it.
    """
    count = min(len(rows), len(wanted), _MOST)
    if count < _LEAST or rows.ndim != 2 or rows.shape[1] > _COLUMNS or wanted.ndim != 1 or wanted.dtype.kind != "f":
        return None
    table: Array = rows[:count].astype(np.float64)
    series: Array = wanted[:count].astype(np.float64)
    if not (np.isfinite(table).all() and np.isfinite(series).all()) or not series.std():
        return None
    around = np.stack([series[_AROUND + step:count - _AROUND + step] for step in range(-_AROUND, _AROUND + 1)], 1)
    around = around - around.mean(0)
    own = around[:, _AROUND]
    if np.corrcoef(around[:, _AROUND - 1], own)[0, 1] < _GOES or _left(around[:, :_AROUND], own)[1].std() < _ROUGH * own.std():
        return None
    for column in range(table.shape[1]):
        middle = table[_AROUND:count - _AROUND, column]
        middle = middle - middle.mean()
        if not middle.std():
            continue
        factors, rest = _left(around, middle)
        taps = np.flatnonzero(np.abs(factors) > _PART * np.abs(factors).max())
        if np.abs(rest).max() <= _EXACT * middle.std() and len(taps) >= _TAPS and taps[-1] >= _AROUND and (factors[taps] > 0).all():
            return AheadFacts(column=column, features=table.shape[1], window=False, taps=len(taps), later=int(taps[-1]) - _AROUND)
    return None


def _left(given: Array, wanted: Array) -> tuple[Array, Array]:
    factors, *_ = np.linalg.lstsq(given, wanted, rcond=None)
    return factors, wanted - given @ factors


def of_torch(watch: TorchWatcher) -> None:
    """The first rows of the dataset that is trained on, by their number."""
    loader = watch.data.training_loader
    dataset = loader.dataset if loader is not None else None
    if dataset is None or not hasattr(dataset, "__len__") or not hasattr(dataset, "__getitem__"):
        return
    if watch.seen.probes.ahead is not None or watch.seen.overwritten is not None:
        return  # who reads rows of the second kind changes them
    begun, rows, wanted = time.monotonic(), list[Array](), list[float]()
    with generators_kept(watch.torch), own_generators_kept(dataset):
        for number in range(min(len(dataset), _MOST)):
            parts = [tensors.array(part) for part in torch_batches.columns_of(dataset[number]).values()]
            given = [part for part in parts if part is not None and part.dtype.kind == "f"]
            if len(given) != 2 or given[0].ndim != 1 or given[1].size != 1 or time.monotonic() - begun > _SECONDS:
                break
            rows.append(given[0])
            wanted.append(float(given[1].reshape(-1)[0]))
    if len(rows) >= _LEAST and all(row.shape == rows[0].shape for row in rows):
        _note(watch, np.stack(rows), np.array(wanted))


def of_keras(watch: KerasWatcher) -> None:
    """The arrays that `fit` was given."""
    if watch.seen.probes.ahead is not None or watch.fits.arrays is None:
        return
    rows, wanted = (tensors.array(part) for part in watch.fits.arrays)
    if rows is not None and wanted is not None and rows.dtype.kind == "f" and wanted.size == len(wanted) == len(rows):
        _note(watch, rows[:_MOST], wanted.reshape(-1)[:_MOST])


def _note(watch: TorchWatcher | KerasWatcher, rows: Array, wanted: Array) -> None:
    watch.seen.probes.ahead = measure(rows, wanted)
    if watch.seen.probes.ahead is not None:
        watch.session.noted("smoothed", written.smoothed(watch.session.script))
