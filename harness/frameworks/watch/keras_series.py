"""Windows that Keras cuts out of a series, and where their targets lie in it."""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import SeriesFacts
from harness.frameworks.watch import parsed, tensors, written
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_ROWS, _LEAST, _COLUMNS, _SPAN = 400, 32, 64, 20_000

_FUNCTION = "timeseries_dataset_from_array"

Array = np.ndarray[Any, Any]


def attach(session: WatchSession, keras: Any) -> None:
    """Hook `timeseries_dataset_from_array` of one of the packages."""

    def wrap(original: Any) -> Any:
        signature = inspect.signature(original)

        def timeseries_dataset_from_array(*args: Any, **kwargs: Any) -> Any:
            if session.active and session.observation.series is None:
                session.safely("windows of a series", _note, session, signature, args, kwargs)
            return original(*args, **kwargs)

        return timeseries_dataset_from_array

    session.patches.replace(keras.utils, _FUNCTION, wrap)


def _note(session: WatchSession, signature: inspect.Signature, args: Any, kwargs: Any) -> None:
    given = signature.bind(*args, **kwargs)
    given.apply_defaults()
    named = given.arguments
    data, targets = tensors.array(named["data"]), tensors.array(named["targets"])
    found = inside(data, targets, int(named["sequence_length"]), int(named["sampling_rate"]))
    if found is not None:
        found.site = session.sites.here()
        session.observation.series = found
        session.noted("delay", _delay(session, session.sites.place()))


def _delay(session: WatchSession, place: Place | None) -> Place | None:
    """Where the row is computed that the targets begin at, `targets=series[delay:]` of the call here; else where these are given."""
    if place is None:
        return None
    for node in ast.walk(parsed.tree(place[0])):
        if isinstance(node, ast.Call) and name_of(node.func) == _FUNCTION and node.lineno <= place[1] <= (node.end_lineno or node.lineno):
            given = [word.value for word in node.keywords if word.arg == "targets"] or node.args[1:2]
            part = given[0].slice if given and isinstance(given[0], ast.Subscript) else None
            part = part.elts[0] if isinstance(part, ast.Tuple) else part
            name = part.lower.id if isinstance(part, ast.Slice) and isinstance(part.lower, ast.Name) else None
            computed = any(isinstance(made, ast.Assign) and isinstance(made.value, ast.BinOp) and isinstance(made.targets[0], ast.Name)
                           and made.targets[0].id == name for made in ast.walk(parsed.tree(place[0])))
            made_at = written.assigned(name, session.script, session.sites, bare=True) if name and computed else None
            return made_at or ((place[0], given[0].lineno, place[2]) if given else place)
    return None


def inside(data: Array | None, targets: Array | None, length: int, rate: int) -> SeriesFacts | None:
    """Where in the window that begins at row i of `data` (float[rows] or float[rows, columns]) target i stands, by its values; None where
    it comes after the window, or is no column of the data."""
    span = (length - 1) * rate
    if data is None or targets is None or span <= 0 or span > _SPAN or data.ndim > 2 or data.dtype.kind != "f":
        return None
    columns, wanted = data.reshape(len(data), -1), targets.reshape(len(targets), -1)[:, 0]
    if columns.shape[1] > _COLUMNS:
        return None
    for column in range(columns.shape[1]):
        series = columns[:, column]
        for offset in np.flatnonzero(series[: span + 1] == wanted[0]).tolist():
            rows = min(_ROWS, len(wanted), len(series) - offset)
            part = series[offset:offset + rows]
            if rows >= _LEAST and np.ptp(part) > 0 and np.array_equal(part, wanted[:rows]):
                return SeriesFacts(column=column, columns=columns.shape[1], length=length, rate=rate, offset=offset)
    return None
