"""Losses that are an overlap, sum(p * t) / (sum(p) + sum(t)), of scores that no sigmoid has made probabilities."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.checks.loss_facts import OverlapFacts
from harness.frameworks.watch import parsed
from harness.frameworks.watch.nodes import HOPS, Key, Node, plain
from harness.frameworks.watch.sites import Place, site

_PASSED = {"same", "scale", "add", "sum"}


def found(nodes: dict[Key, Node]) -> bool:
    """Whether the operations of a step hold such a division, of what a layer gave without an activation."""
    for node in nodes.values():
        if node.kind == "div" and len(node.inputs) == 2:
            above, below = (_summed(nodes, side) for side in node.inputs)
            multiplied = {plain(nodes, given) for key in above if nodes[key].kind in {"times", "mul"} for given in nodes[key].inputs}
            alone = {plain(nodes, key) for key in below}
            if any(nodes[key].kind == "straight" for key in multiplied & alone if key in nodes):
                return True
    return False


def _summed(nodes: dict[Key, Node], key: Key) -> set[Key]:
    """What sums are taken of, in one side of a division."""
    made, level = set[Key](), [(key, False)]
    for _ in range(HOPS):
        below = []
        for one, summed in level:
            node = nodes.get(one)
            if node is None:
                continue
            if summed and node.kind not in {"same", "sum", "scale"}:
                made.add(one)
            elif node.kind in _PASSED:
                below += [(given, summed or node.kind == "sum") for given in node.inputs]
        level = below
    return made


def facts(nodes: dict[Key, Node], script: Path) -> OverlapFacts | None:
    """Of such a division; None where there is none."""
    return OverlapFacts(site=site(_place(script))) if found(nodes) else None


def _place(script: Path) -> Place | None:
    """The first line of the script's function that divides by a sum and multiplies before, if it is one alone."""
    lines = []
    for scope in ast.walk(parsed.tree(str(script))):
        if isinstance(scope, ast.FunctionDef):
            inside = [node for part in scope.body for node in ast.walk(part)]
            calls = [ast.unparse(node.func).rpartition(".")[2] for node in inside if isinstance(node, ast.Call)]
            kinds = {type(node.op) for node in inside if isinstance(node, ast.BinOp)}
            if {ast.Div, ast.Mult} <= kinds and sum(name in ("sum", "reduce_sum") for name in calls) > 1:
                first = scope.body[1:] if isinstance(scope.body[0], ast.Expr) and scope.body[1:] else scope.body
                lines.append((first[0].lineno, scope.name))
    return (str(script), *lines[0]) if len(lines) == 1 else None
