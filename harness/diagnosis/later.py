"""To begin watching in the middle of a script: behind a statement, or with a turn of a loop."""

from __future__ import annotations

import ast
from collections.abc import Callable

from harness.checks.training_facts import FurtherFacts

NAME = "__watching_begins__"


def mark(tree: ast.Module, further: FurtherFacts) -> None:
    """Put a call of `NAME` where a training begins; every line keeps its number."""
    for node in ast.walk(tree):
        if further.turn and isinstance(node, ast.For | ast.While) and node.lineno == further.line:
            node.body.insert(0, _call(node.body[0].lineno))
            return
        for name in ("body", "orelse", "finalbody"):
            held = getattr(node, name, None)
            suite: list[ast.stmt] = held if isinstance(held, list) else []
            found = [number for number, part in enumerate(suite) if part.lineno == further.line]
            if found and not further.turn:
                suite[found[-1] + 1:found[-1] + 1] = [_call(suite[found[-1]].end_lineno or further.line)]
                return


def on_turn(turn: int, begin: Callable[[], None]) -> Callable[[], None]:
    """What is to be called: calls `begin` once, at the turn that is asked for."""
    turns = 0

    def passed() -> None:
        nonlocal turns
        turns += 1
        if turns == max(turn, 1):
            begin()

    return passed


def _call(line: int) -> ast.stmt:
    made = ast.Expr(ast.Call(ast.Name(NAME, ast.Load()), [], []))
    for part in ast.walk(made):
        if isinstance(part, ast.expr | ast.stmt):
            part.lineno = part.end_lineno = line
            part.col_offset = part.end_col_offset = 0
    return made
