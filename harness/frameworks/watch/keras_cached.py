"""`tf.data.Dataset.cache` behind a function that draws: whether it gives another row each time is asked of the function itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import CachedFacts
from harness.frameworks.watch.keras_data import chain_of
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_ROWS, _TIMES = 4, 6
_MAPPED = ("_MapDataset", "_ParallelMapDataset")


def measure(watch: KerasWatcher) -> None:
    """Asks each function before the cache for some rows, a few times over each."""
    current = watch.data.current
    source = current.source if current is not None else None
    if current is None or not hasattr(source, "element_spec") or watch.fits.passes == 1:
        return
    chain = chain_of(source)
    kept = next((number for number, part in enumerate(chain) if type(part).__name__.strip("_") == "CacheDataset"), None)
    for part in chain[kept + 1:] if kept is not None else []:
        changed = _changed(part)
        if changed is not None and kept is not None:
            current.facts.cached = CachedFacts(rows=changed[1], changed=changed[0], site=site(watch.data.place_of(chain[kept])),
                                               drawn=site(watch.data.place_of(part)))
            return


def _changed(part: Any) -> tuple[int, int] | None:
    """Of how many rows a `map` makes others when it is asked again, and of how many it was asked; None where no row is."""
    import tensorflow as tf

    function = getattr(part, "_map_func", None)
    if function is None or type(part).__name__ not in _MAPPED or not _real(part._input_dataset.element_spec):
        return None
    changed = rows = 0
    for element in part._input_dataset.take(_ROWS):
        given = tf.nest.flatten(element)
        made = [_numbers(function.function(*given)) for _ in range(_TIMES)]
        rows += 1
        changed += any(len(one) != len(made[0]) or not all(map(np.array_equal, one, made[0])) for one in made[1:])
    return (changed, rows) if changed else None


def _real(spec: Any) -> bool:
    """Whether rows hold numbers, pictures or text (a name of a file, say): an index alone is what random rows are made from on purpose."""
    import tensorflow as tf

    return any(hasattr(part, "dtype") and (part.dtype == tf.string or ((part.dtype.is_floating or part.dtype == tf.uint8)
                                           and part.shape.rank not in (None, 0))) for part in tf.nest.flatten(spec))


def _numbers(made: Any) -> list[np.ndarray[Any, Any]]:
    """What is continuous in a row: ids that are hidden at random once may be meant to stay so."""
    return [np.asarray(part) for part in made if hasattr(part, "dtype") and (part.dtype.is_floating or part.dtype.name == "uint8")]
