"""Pictures whose targets are pictures too, in a function that `tf.data` maps: whether both are moved by one draw.

After the script, the function is asked for the same row several times; it is the graph that the script's own rows went through.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.frameworks.watch import drawn_apart, motions, parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.keras_data import chain_of
from harness.frameworks.watch.keras_state import generators_kept
from harness.frameworks.watch.sites import Place

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_SECONDS, _ROWS, _OF_ROWS = 1.0, 12, 3
_MAPPED = ("_MapDataset", "_ParallelMapDataset")


def measure(watch: KerasWatcher) -> None:
    """Enters what the rows of the training show that are drawn again, function by function."""
    current = watch.data.current
    source = current.source if current is not None else None
    if source is None or not hasattr(source, "element_spec") or watch.seen.augmentation is not None:
        return
    for part in chain_of(source):
        if type(part).__name__ in _MAPPED and getattr(part, "_map_func", None) is not None:
            with generators_kept():
                found = drawn_apart.found(_rows(part), _SECONDS)
            if found is not None and found.apart:
                watch.seen.augmentation = found
                watch.session.noted("getitem.drawn", _drawing(watch, part) or watch.data.place_of(part))
                return


def _drawing(watch: KerasWatcher, part: Any) -> Place | None:
    """The first line of a mapped function of the script's on which something is called that moves at random, by its name."""
    function = getattr(part._map_func, "_func", None)
    code = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__code__", None) if callable(function) else None
    if code is None or not watch.session.sites.is_own(code.co_filename):
        return None
    scope = parsed.function(parsed.tree(code.co_filename), code.co_name, code.co_firstlineno)
    lines = [node.lineno for node in ast.walk(scope) if isinstance(node, ast.Call) and motions.AUGMENTS.search(name_of(node.func))
             ] if scope is not None else []
    return (code.co_filename, min(lines), code.co_name) if lines else None


def _rows(part: Any) -> Iterator[tuple[int, Callable[[], drawn_apart.Pair | None]]]:
    import tensorflow as tf

    function = part._map_func.function
    for number, element in enumerate(part._input_dataset.take(_ROWS)):
        yield number, functools.partial(_made, function, tf.nest.flatten(element))


def _made(function: Any, given: list[Any]) -> drawn_apart.Pair | None:
    return _pair(function(*given))


def _pair(made: Any) -> drawn_apart.Pair | None:
    """The pictures of a row; of a batch those of its first."""
    arrays = [np.asarray(part) for part in made if hasattr(part, "numpy") and part.dtype.name != "string"]
    pictures = [found for array in arrays if (found := motions.picture(array[0] if array.ndim > _OF_ROWS else array)) is not None]
    return drawn_apart.pair(pictures)
