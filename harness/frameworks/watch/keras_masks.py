"""Masks of padding that Keras hands from layer to layer, and the layer behind which there is none any more."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from harness.frameworks.watch.keras_trace import flat, patched


def lost(keras: Any, run: Callable[[], Any], reads: Callable[[Any], bool]) -> Any:
    """The layer that is given rows with their mask and hands them on without, where one that `reads` masks comes behind it and gets none;
    None where there is no such. `run`: a forward pass."""
    ended: list[Any] = []
    unmasked: list[Any] = []

    def enter(original: Any) -> Any:
        def wrapped(layer: Any, *args: Any, **kwargs: Any) -> Any:
            given = next(iter(flat(args[0] if args else kwargs.get("inputs"))), None)
            masked = _mask(given) is not None or kwargs.get("mask") is not None
            if ended and not masked and reads(layer):
                unmasked.append(layer)
            made = original(layer, *args, **kwargs)
            result = next(iter(flat(made)), None)
            if masked and not ended and _mask(result) is None and _rows(result) == _rows(given):
                ended.append(layer)
            return made

        return wrapped

    with ExitStack() as stack:
        for owner in (keras.layers.Layer, keras.Model):
            stack.enter_context(patched(owner, "__call__", enter))
        run()
    return ended[0] if ended and unmasked else None


def _mask(tensor: Any) -> Any:
    return getattr(tensor, "_keras_mask", None)


def _rows(tensor: Any) -> tuple[Any, ...]:
    """Rows and tokens; a vector for each row has none of these to mask."""
    shape = tuple(getattr(tensor, "shape", ()))
    return shape[:2] if len(shape) > 2 else ()
