"""The operations that run eagerly in TensorFlow, which tells a callback of each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.frameworks.watch.sites import Place

_MOST = 20_000  # operations of one step that are kept


@dataclass
class Operation:
    """One that ran: its kind (`Log`), what it was given and gave, and where the script called it."""

    kind: str
    given: list[Any]
    made: list[Any]
    place: Place | None


@contextlib.contextmanager
def listening(operations: list[Operation], place: Callable[[], Place | None]) -> Iterator[None]:
    """Keep every eager operation that makes floats, while inside."""
    from tensorflow.python.framework import op_callbacks

    def heard(op_type: Any, inputs: Any, _attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        del op_name
        if graph is None and len(operations) < _MOST and any(output.dtype.is_floating for output in outputs):
            kind = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
            operations.append(Operation(kind, list(inputs), list(outputs), place()))

    op_callbacks.add_op_callback(heard)
    try:
        yield
    finally:
        op_callbacks.remove_op_callback(heard)
