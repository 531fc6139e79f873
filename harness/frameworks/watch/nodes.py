"""The operations behind a loss, in the few kinds that are told apart: the same for every framework, which each reads off its own graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

HOPS = 16

Key = Any


@dataclass
class Node:
    """An operation. `kind`: exp, sqrt, square, scale (times `factor`), same (what rearranges, casts or clips), drawn (times noise), times
    (something that is no number), mul (of two that both have a gradient, in TensorFlow of any two), sum (or mean), div, straight (a
    layer's products and sums of its inputs), add, or other; `inputs`: those that a gradient goes to, in TensorFlow those that are no
    constants."""

    kind: str
    inputs: list[Key] = field(default_factory=list)
    factor: float = 1.0


def parents_of(nodes: dict[Key, Node]) -> dict[Key, list[Key]]:
    """By operation, those that it is an input of."""
    parents: dict[Key, list[Key]] = defaultdict(list)
    for key, node in nodes.items():
        for given in node.inputs:
            parents[given].append(key)
    return parents


def plain(nodes: dict[Key, Node], key: Key) -> Key:
    """What is under operations that only rearrange."""
    for _ in range(HOPS):
        node = nodes.get(key)
        if node is None or node.kind != "same" or not node.inputs:
            break
        key = node.inputs[0]
    return key


def consumers(nodes: dict[Key, Node], parents: dict[Key, list[Key]], key: Key, depth: int = 6) -> Iterator[Key]:
    """What an operation is an input of, behind those that only rearrange."""
    for up in parents.get(key, ()):
        if nodes[up].kind == "same" and depth:
            yield from consumers(nodes, parents, up, depth - 1)
        else:
            yield up
