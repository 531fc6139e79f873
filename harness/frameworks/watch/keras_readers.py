"""Several readers that `tf.data` interleaves: whether each reads its part, or the whole. Asked after the script, of the first two."""

from __future__ import annotations

import ast
import time
import zlib
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.data_facts import ReaderFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.keras_data import chain_of
from harness.frameworks.watch.sites import Place, site

if TYPE_CHECKING:
    from harness.frameworks.watch.keras_watch import KerasWatcher

_ROWS, _SECONDS = 200, 1.0


def measure(watch: KerasWatcher) -> None:
    """Read the first rows of two readers, each by itself."""
    current = watch.data.current
    source = current.source if current is not None else None
    if current is None or not hasattr(source, "element_spec"):
        return
    found = next((part for part in chain_of(source) if "Interleave" in type(part).__name__), None)
    function = getattr(found, "_map_func", None)
    if found is None or function is None or not hasattr(function.output_structure, "_from_components"):
        return
    read = [_rows(function, element) for element in found._input_dataset.take(2)]
    if len(read) < 2 or not all(read):
        return
    length = min(map(len, read))
    counts = [Counter(marks[:length]) for marks in read]
    kinds = set().union(*counts)
    current.facts.readers = ReaderFacts(
        readers=max(2, int(found._input_dataset.cardinality())), rows=2 * length, kinds=len(kinds),
        shared=sum(all(mark in own for own in counts) for mark in kinds) / len(kinds),
        again=1 - sum(map(len, counts)) / (2 * length), site=site(_read_at(watch) or watch.data.place_of(found)))


def _rows(function: Any, element: Any) -> list[int]:
    """A number for each of the first rows that one reader gives."""
    import tensorflow as tf

    begun, marks = time.monotonic(), []
    parts = tf.nest.flatten(element)
    for row in function.output_structure._from_components(function.function(*parts)[0]).take(_ROWS).as_numpy_iterator():
        mark = 0
        for part in tf.nest.flatten(row):
            mark = zlib.crc32(np.asarray(part).tobytes() if not isinstance(part, bytes) else part, mark)
        marks.append(mark)
        if time.monotonic() - begun > _SECONDS:
            break
    return marks


def _read_at(watch: KerasWatcher) -> Place | None:
    """Where the only generator that a script makes a dataset of begins to read."""
    script = str(watch.session.script)
    tree = parsed.tree(script)
    given = [node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args
             and getattr(node.func, "attr", "") == "from_generator"]
    names = {getattr(one, "attr", getattr(one, "id", "")) for one in given}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in names]
    loops = [part.lineno for node in functions for part in parsed.within(node) if isinstance(part, ast.For | ast.While)]
    return (script, min(loops), functions[0].name) if len(functions) == 1 and loops else None
