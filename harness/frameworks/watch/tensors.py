"""Tensors and arrays as facts. One on a GPU is waited for; one on any other device gives its shape and type only."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from harness.checks.tensor_facts import TensorFacts
from harness.frameworks.watch import scales

_SAMPLE = 1 << 16
_ROWS = 64
_COMMON = 0.25  # of the rows that have something in a column
_COLUMNS = 64  # of numbers that are to be predicted for a row
_COUNTED, _CLASSES = 1 << 20, 256
_TOLERANCE = 1e-3


def is_tensor(value: Any) -> bool:
    """A torch tensor, without importing torch."""
    return hasattr(value, "grad_fn") and hasattr(value, "device")


def is_array(value: Any) -> bool:
    """A tensor of any framework, or an array."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def is_strided(tensor: Any) -> bool:
    """Whether a torch tensor has one storage; a sparse one has none."""
    return str(tensor.layout) == "torch.strided"


def readable(tensor: Any) -> bool:
    """Whether a torch tensor's values can be had now: on the CPU, and on a GPU once everything that was asked of it is done.

    After a kernel has failed there nothing is read any more: the error is the script's to meet. Nor is anything while a graph is
    captured, which allows no waiting.
    """
    return tensor.device.type == "cpu" or (tensor.device.type == "cuda" and _GPU.done(tensor.device))


class _Waiting:
    """Waits for a GPU, for as long as no kernel has failed on it. Such a failure stays: every later call meets it again."""

    def __init__(self) -> None:
        self._failed = False

    def done(self, device: Any) -> bool:
        cuda = sys.modules["torch"].cuda
        if self._failed or cuda.is_current_stream_capturing():
            return False
        try:
            cuda.synchronize(device)
        except RuntimeError:
            self._failed = True
        return not self._failed


_GPU = _Waiting()


def address(tensor: Any) -> int:
    """Where a torch tensor begins in memory; of one without a storage a number that only itself has."""
    return int(tensor.data_ptr()) if is_strided(tensor) else id(tensor)


def storage(tensor: Any) -> int:
    """Which memory a torch tensor lies in: views of one tensor share it. Of one without a storage a number that only itself has."""
    return int(tensor.untyped_storage().data_ptr() if is_strided(tensor) else 0) or id(tensor)


def array(value: Any) -> np.ndarray[Any, Any] | None:
    """The values as numpy has them (float32 for the kinds it lacks); None for tensors that cannot be read and for what is no array."""
    if is_tensor(value):
        if not is_strided(value) or not readable(value):
            return None
        plain = value.detach().cpu()
        if plain.dtype.is_floating_point and plain.element_size() != 4 and plain.element_size() != 8:
            plain = plain.float()
        made: np.ndarray[Any, Any] = plain.resolve_conj().resolve_neg().numpy()
        return made
    if value is None:
        return None
    if hasattr(value, "numpy") and not isinstance(value, np.ndarray):
        value = value.numpy()
    return np.asarray(value) if isinstance(value, np.ndarray | np.generic) else None


def facts(value: Any, *, values: bool = True) -> TensorFacts | None:
    """Facts of a tensor or array, None where it is neither. `values`: also its range, which means reading it.

    Ranges of more than 65536 elements are those of an even sample; rows with a NaN or infinity are looked for in all of them.
    """
    if is_tensor(value):
        seen = TensorFacts(shape=tuple(value.shape), dtype=str(value.dtype).rpartition(".")[2], device=value.device.type,
                           requires_grad=bool(value.requires_grad))
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        seen = TensorFacts(shape=tuple(int(size) for size in value.shape), dtype=getattr(value.dtype, "name", str(value.dtype)))
    else:
        return None
    if values:
        fill(seen, value)
    return seen


def fill(seen: TensorFacts, value: Any) -> None:
    """Add the values' range to facts of a tensor that can be read now."""
    data = array(value)
    if data is None or data.dtype.kind not in "iufb" or data.size == 0:
        return
    floating = data.dtype.kind == "f"
    flat = data.reshape(-1) if data.size <= _SAMPLE else data.reshape(-1)[:: data.size // _SAMPLE]
    finite = flat[np.isfinite(flat)] if floating else flat
    if finite.size:
        wide: Any = finite.astype(np.float64)
        seen.minimum, seen.maximum = float(wide.min()), float(wide.max())
        seen.mean, seen.std = float(wide.mean()), float(wide.std())
        seen.integral = not floating or bool((finite == np.floor(finite)).all())
    if data.ndim > 1 and len(data) > 1 and seen.std:
        seen.rows_alike = bool((data[-1] == data[0]).all()) and bool((data == data[:1]).all())
    if not floating:
        return
    if data.ndim == 2 and data.shape[0] > 1:
        seen.columns_alike = data.shape[1] > 1 and bool(np.ptp(data[:, 0]) > 0) and bool((data == data[:, :1]).all())
    part = data[:4096] if data.ndim == 2 else data[:_ROWS]
    if data.ndim == 2 or (data.ndim == 3 and 0 < part.size <= 4 * _SAMPLE):
        with np.errstate(all="ignore"):
            along = 0 if part.ndim == 2 else (0, 3 - scales.features(part))
            spreads = part.std(along, dtype=np.float64)
        above = np.isfinite(spreads) & (spreads > 0)
        # Where hardly any row has something, as behind the ends of recordings, a deviation says how rarely, and not on what scale.
        common = above & ((part != 0).mean(along) > _COMMON)
        seen.column_stds = (float(spreads[common].min()), float(spreads[above].max())) if common.any() else None
    seen.bad_rows = bad_rows(data)
    if not seen.bad_rows and data.ndim >= 2 and data.shape[-1] > 1 and data.size <= 16 * _SAMPLE and seen.minimum is not None:
        assert seen.maximum is not None
        if seen.minimum >= 0 and seen.maximum <= 1 + _TOLERANCE:
            seen.rows_sum_to_one = bool((np.abs(data.sum(-1, dtype=np.float64) - 1) < _TOLERANCE).all())
        elif seen.maximum <= _TOLERANCE:
            seen.log_probabilities = bool((np.abs(np.exp(data.astype(np.float64)).sum(-1) - 1) < _TOLERANCE).all())
        if data.ndim == 2 and data.shape[0] > 1 and not (seen.rows_sum_to_one or seen.log_probabilities) and seen.maximum <= 1 + _TOLERANCE:
            shares = data if seen.minimum >= 0 else np.exp(data.astype(np.float64)) if seen.maximum <= _TOLERANCE else None
            seen.batch_sums_to_one = shares is not None and bool((np.abs(shares.sum(0, dtype=np.float64) - 1) < _TOLERANCE).all())


def bad_rows(data: np.ndarray[Any, Any]) -> list[int]:
    """Rows (first axis) that hold a NaN or infinity, at most 64."""
    if data.ndim == 0:
        return [] if np.isfinite(data) else [0]
    # A sum is not finite when a term is not: one pass without a mask for the usual case.
    with np.errstate(all="ignore"):
        if np.isfinite(data.sum(dtype=np.float64)):
            return []
    rows = ~np.isfinite(data.reshape(len(data), -1)).all(1)
    return [int(row) for row in np.flatnonzero(rows)[:_ROWS]]


def whole_labels(value: Any, limit: int = 512) -> list[Any] | None:
    """Labels of the rows where a tensor or array holds one whole number a row, else None."""
    data = _one_a_row(value)
    if data is None:
        return None
    if data.dtype.kind == "f" and not (np.isfinite(data).all() and (data == np.floor(data)).all()):
        return None
    return [int(label) for label in data[:limit]]


def class_counts(value: Any) -> dict[str, int]:
    """How often each whole number occurs in an array or tensor of any shape; nothing where these are too many, or no whole numbers."""
    data = array(value)
    if data is None or data.dtype.kind not in "iuf" or not 0 < data.size <= _COUNTED or (
            data.dtype.kind == "f" and not (np.isfinite(data).all() and (data == np.floor(data)).all())):
        return {}
    found, counts = np.unique(data, return_counts=True)
    return {str(int(label)): int(count) for label, count in zip(found, counts, strict=True)} if len(found) <= _CLASSES else {}


def spread(values: list[Any], most: int) -> list[Any]:
    """At most so many of these, in their order, from first to last."""
    return values[:: -(-len(values) // most)] if len(values) > most else values


def numbers(value: Any, limit: int = 512) -> list[Any] | None:
    """The targets of the rows where a tensor or array holds one finite number a row, or a few, else None."""
    data = _one_a_row(value)
    several = array(value) if data is None else None
    if several is not None and several.ndim == 2 and 1 < several.shape[1] <= _COLUMNS and several.dtype.kind in "iufb" and several.size:
        data = several
    return None if data is None or not np.isfinite(data).all() else list(data[:limit].astype(np.float32))


def _one_a_row(value: Any) -> np.ndarray[Any, Any] | None:
    data = array(value)
    if data is not None and data.ndim == 2 and data.shape[1] == 1:
        data = data[:, 0]
    return None if data is None or data.ndim != 1 or data.dtype.kind not in "iufb" or not data.size else data


def differ(first: list[Any], second: list[Any]) -> bool | None:
    """Whether two lists of PyTorch's tensors differ by more than rounding; None where there are none."""
    if not first or len(first) != len(second):
        return None
    for a, b in zip(first, second, strict=True):
        if a.shape != b.shape:
            return None
        scale = float(a.float().abs().max()) or 1.0
        if float((a.float() - b.float()).abs().max()) > 1e-6 * scale:
            return True
    return False
