"""Draws that gradients go through, `mean + noise * spread`, beside a divergence that is told the logarithm of a variance: are both of one
distribution? The same for every framework, of a step's operations."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.checks.loss_facts import SpreadFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.nodes import HOPS, Key, Node, consumers, parents_of, plain
from harness.frameworks.watch.sites import Place, site

_CLOSE = 1e-3
_DRAWS = {"randn", "randn_like", "normal", "random_normal"}


def find(nodes: dict[Key, Node]) -> SpreadFacts | None:
    """Facts of the first draw whose spread is another one than the divergence's; None where there is none."""
    parents = parents_of(nodes)
    squared = {plain(nodes, node.inputs[0]) for node in nodes.values() if node.kind == "square"}
    exponentials = [key for key, node in nodes.items() if node.kind == "exp"]
    for key, node in nodes.items():
        if node.kind != "drawn":
            continue
        sums = [nodes[up] for up in consumers(nodes, parents, key) if nodes[up].kind == "add" and len(nodes[up].inputs) > 1]
        means = {plain(nodes, given) for one in sums for given in one.inputs} - {plain(nodes, key)}
        spread = _exponent(nodes, node.inputs[0])
        if not means & squared or spread is None:
            continue
        base, drawn = spread
        told = [scale for one in exponentials for scale in _told(nodes, parents, one, base)]
        if told and (drawn is None or not any(abs(scale - 2 * drawn) < _CLOSE for scale in told)):
            return SpreadFacts(drawn=drawn, told=told[0])
    return None


def _exponent(nodes: dict[Key, Node], key: Key) -> tuple[Key, float | None] | None:
    """What a spread is made of, and by what factor of it it is the exponential; None for that where it is none. None at all where it is
    multiplied by something else besides."""
    scale, inside = 1.0, False
    for _ in range(HOPS):
        node = nodes.get(key)
        kind = node.kind if node is not None else ""
        if node is None or kind not in {"same", "scale", "sqrt", "square", "exp"} or (inside and kind in {"sqrt", "square", "exp"}):
            break
        if kind == "scale" and not inside:
            return None
        scale *= {"scale": node.factor, "sqrt": 0.5, "square": 2.0}.get(kind, 1.0)
        inside = inside or kind == "exp"
        key = node.inputs[0]
    if not inside:
        return (key, None) if abs(scale - 1) < _CLOSE else None
    return key, scale


def _told(nodes: dict[Key, Node], parents: dict[Key, list[Key]], key: Key, base: Key) -> Iterator[float]:
    """By what factor of `base` an exponential is one, in each of its uses but the draw itself."""
    found = _exponent(nodes, key)
    if found is None or found[0] != base or found[1] is None:
        return
    for up in consumers(nodes, parents, key):
        kind = nodes[up].kind
        if kind not in {"drawn", "sqrt"}:
            yield 2 * found[1] if kind == "square" else found[1]


def place(script: Path) -> Place | None:
    """The line of a script that multiplies by a normal draw, or by the name of one."""
    tree = parsed.tree(str(script))
    draws = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) and _draws(node.value) for target in node.targets
             if isinstance(target, ast.Name)}
    products = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    inside = {node for scope in ast.walk(tree) if isinstance(scope, ast.FunctionDef) for node in ast.walk(scope)}
    for node in sorted(products, key=lambda node: node not in inside):
        for side, other in ((node.left, node.right), (node.right, node.left)):
            drawn = _draws(side) or (isinstance(side, ast.Name) and side.id in draws)
            if drawn and not isinstance(other, ast.Constant):
                return str(script), node.lineno, "<module>"
    return None


def _draws(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _DRAWS


def facts(nodes: dict[Key, Node], script: Path) -> SpreadFacts | None:
    """As `find`, with the line of the draw."""
    found = find(nodes)
    if found is not None:
        found.site = site(place(script))
    return found
