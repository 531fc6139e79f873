"""A Keras model's steps with the padding left out: layers that read steps in a row, or pool them, are told where a row ends."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from harness.frameworks.watch.keras_trace import flat, patched
from harness.frameworks.watch.restraints import FILLED, LEARNT_UNPADDED, Restraint
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_backend import KerasBackend, Step

_READS = ("RNN", "Bidirectional", "GlobalAveragePooling1D")


def padding(keras: Any, backend: KerasBackend, step: Step, real: float | None, place_of: Callable[[Any], Place | None]) -> Restraint | None:
    """Padding that a layer reads for want of a mask. `real`: the share of a batch that is none."""
    if real is None or real > 1 - FILLED:
        return None
    read: list[Any] = []
    with _masked(keras, read):
        backend.loss_op_by_op(step)
    if not read:
        return None

    @contextlib.contextmanager
    def off(backend: KerasBackend) -> Iterator[None]:
        with _masked(keras, []), backend.eagerly():
            yield

    return Restraint("padding", 1 - real, off, site(place_of(read[0])), name=f"{read[0].name}: {type(read[0]).__name__}", part=True,
                     learnt=LEARNT_UNPADDED)


@contextlib.contextmanager
def _masked(keras: Any, read: list[Any]) -> Iterator[None]:
    """While inside, such layers get the mask that they are not given. `read`: those for which this was so."""
    kept: list[Any] = []
    outermost = [True]

    def masked(layer: Any, given: Any, kwargs: dict[str, Any]) -> bool:
        if not kept or not _reads(layer) or kwargs.get("mask") is not None or getattr(given, "_keras_mask", None) is not None:
            return False
        return len(given.shape) == 3 and given.shape[1] == kept[-1].shape[1]

    def enter(original: Any) -> Any:
        def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
            given = next(iter(flat(args[0] if args else kwargs.get("inputs"))), None)
            kept.extend(found for found in [_real(given, floats=outermost[0])] if found is not None)
            if masked(layer, given, kwargs):
                read.append(layer)
                kwargs |= {"mask": kept[-1]}
            before, outermost[0] = outermost[0], False
            try:
                return original(layer, *args, **kwargs)
            finally:
                outermost[0] = before

        return wrapped

    with contextlib.ExitStack() as stack:
        for owner in (keras.layers.Layer, keras.Model):
            stack.enter_context(patched(owner, "__call__", enter))
        yield


def _reads(layer: Any) -> bool:
    return any(cls.__name__ in _READS for cls in type(layer).__mro__)


def _real(given: Any, *, floats: bool) -> Any:
    """Where rows of ids (or of `floats`, step by step) are no padding, `bool[rows, steps]`; None of anything else."""
    import tensorflow as tf

    if not tf.is_tensor(given) or given.shape.rank != (2 if given.dtype.is_integer else 3) or not (given.dtype.is_integer or floats):
        return None
    filled = given != 0 if given.dtype.is_integer else tf.reduce_any(given != 0, 2)
    return tf.cumsum(tf.cast(filled, tf.int32), axis=1, reverse=True) > 0
