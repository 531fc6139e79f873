"""Graphs that were joined to a batch, nodes behind nodes and edges behind edges: whether the edges go with their nodes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.checks.graph_facts import JoinedFacts
from harness.frameworks.watch import held_edges, parsed, tensors
from harness.frameworks.watch.sites import Place, Sites, site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_BATCHES, _GRAPHS, _NODES, _LARGEST = 12, 4, 12, 1 << 20
_LISTS = (".append", ".extend")
_EDGES = ("edge", "bond", "link", "arc")
_JOINS = {"cat", "concat", "concatenate", "hstack"}

Array = np.ndarray[Any, Any]


class Joined:
    """Told of all that a model is given in a training step. One batch whose edges reach beyond the first graphs ends the search."""

    def __init__(self, session: WatchSession) -> None:
        self._session = session
        self._looked = self._steps = 0

    def trained(self, given: Sequence[Any]) -> None:
        self._steps += 1
        if self._steps == 1:
            self._session.observation.evaluation.held_edges = held_edges.find(given, self._session.sites.frames(), self._session.script)
        if self._looked >= _BATCHES or len(given) < 3:
            return
        parts = [part for one in given if (part := tensors.array(one)) is not None and part.ndim and 0 < part.size <= _LARGEST]
        whole = [part for part in parts if part.dtype.kind in "iu"]
        found = next((facts for sizes in map(_sizes, whole, [parts] * len(whole)) if sizes is not None
                      for edges in whole if (facts := _facts(sizes, edges)) is not None), None)
        if found is None:
            return
        self._looked += 1
        seen = self._session.observation
        if found.highest >= found.largest or found.reached * 2 > found.graphs:
            self._looked, seen.joined = _BATCHES, None
            return
        found.batches = self._looked
        found.site = site(_place(self._session.script, self._session.sites))
        seen.joined = found


def _sizes(array: Array, parts: list[Array]) -> Array | None:
    """The number of nodes in each graph, of what says it: the graph of each node, the sizes themselves, or where each graph begins and the
    last one ends. Some other array has a row for each node."""
    if array.ndim != 1 or len(array) < _GRAPHS or array.min() < 0:
        return None
    rises = bool((np.diff(array.astype(np.int64)) >= 0).all())
    if rises and array[0] == 0 and len(np.unique(array)) == int(array[-1]) + 1 < len(array):
        sizes = np.bincount(array)
    elif rises and array[0] == 0 and len(np.unique(array)) == len(array):
        sizes = np.diff(array)
    else:
        sizes = array.astype(np.int64)
    nodes = int(sizes.sum())
    rows = any(part is not array and len(part) == nodes for part in parts)
    return sizes if rows and len(sizes) >= _GRAPHS and nodes >= max(_NODES, 2 * len(sizes)) and sizes.min() > 0 else None


def _facts(sizes: Array, edges: Array) -> JoinedFacts | None:
    """Of an array of pairs of nodes, by rows or by columns."""
    if edges.ndim != 2 or 2 not in edges.shape or edges.size < 4 * len(sizes) or edges.min() < 0 or edges.max() >= sizes.sum():
        return None
    if edges.shape[0] != 2 and edges.shape[1] == 2 and len(edges) == sizes.sum():
        return None  # two numbers a node
    graphs: Array = np.repeat(np.arange(len(sizes)), sizes)[edges.ravel()]
    return JoinedFacts(batches=0, graphs=len(sizes), nodes=int(sizes.sum()), edges=edges.size // 2, largest=int(sizes.max()),
                       highest=int(edges.max()), reached=len(np.unique(graphs)))


def _place(script: Path, sites: Sites) -> Place | None:
    """The first line that appends to a list of edges; else the first call that joins something of that name."""
    calls = [node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.Call)]
    for word in _EDGES:
        found = [(node.lineno, ast.unparse(node.func).lower()) for node in calls if word in ast.unparse(node).lower()]
        lists = [line for line, name in found if name.endswith(_LISTS) and word in name]
        lines = lists or [line for line, name in found if name.rpartition(".")[2] in _JOINS]
        if lines:
            return (str(script), min(lines), "<module>") if sites.is_own(str(script)) else None
    return None
