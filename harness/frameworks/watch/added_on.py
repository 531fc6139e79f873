"""Counters of an evaluation that a loop over epochs never sets back: read off the script's text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.checks.training_facts import RunningFacts
from harness.frameworks.watch import default_made, parsed, unreset
from harness.frameworks.watch.sites import site

if TYPE_CHECKING:
    from harness.frameworks.watch.session import WatchSession

_Loop = ast.For | ast.While
_QUIET = ("no_grad", "inference_mode")


def find(session: WatchSession) -> RunningFacts | None:
    """Two names that are added to in an inner loop without gradients, divided one by the other in the outer loop, and set in neither; or
    an object that does the same."""
    tree = parsed.tree(str(session.script))
    for outer in ast.walk(tree):
        if not isinstance(outer, _Loop):
            continue
        stored = {node.id for node in ast.walk(outer) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                  and not _adds(outer, node)}
        added = {target.target.id for inner in _quiet_loops(outer) for target in ast.walk(inner)
                 if isinstance(target, ast.AugAssign) and isinstance(target.op, ast.Add) and isinstance(target.target, ast.Name)} - stored
        for share in ast.walk(outer):
            if isinstance(share, ast.BinOp) and isinstance(share.op, ast.Div):
                above, below = (_names(part) & added for part in (share.left, share.right))
                if above and below and above != below:
                    name = sorted(above - below)[0] if above - below else sorted(above)[0]
                    line = _begun(tree, name, outer.lineno) or share.lineno
                    return RunningFacts(names=sorted(above | below), site=site((str(session.script), line, "<module>")))
    return unreset.find(session) or default_made.find(session)


def _names(part: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}


def _adds(outer: ast.AST, name: ast.Name) -> bool:
    return any(isinstance(node, ast.AugAssign) and node.target is name for node in ast.walk(outer))


def _quiet_loops(outer: ast.AST) -> Iterator[ast.AST]:
    """Loops inside of it that run without gradients: inside a `with` that says so, or around one."""
    for node in ast.walk(outer):
        if isinstance(node, ast.With) and any(name in ast.unparse(item.context_expr) for item in node.items for name in _QUIET):
            yield from (inner for inner in ast.walk(node) if isinstance(inner, _Loop))


def _begun(tree: ast.AST, name: str, before: int) -> int | None:
    """The last line before a loop that gives a name its first value."""
    lines = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
             and node.id == name and node.lineno < before]
    return max(lines, default=None)
