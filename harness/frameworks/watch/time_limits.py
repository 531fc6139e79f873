"""Memories that are told where the time ran out, and not where an episode ended: read off a script's text."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_TIME = re.compile(r"trunc|time_?(limit|out|up)|timed_?out|too_?long", re.IGNORECASE)
_KEEPS = re.compile(r"^(push|append|add|store|put|remember|record|insert|save)", re.IGNORECASE)
_LEAST, _FLAGS = 4, 2


def written(script: Path) -> Place | None:
    """The first line that keeps such a mark: of what `step(...)` gives, the other mark, which stands beside it, is kept nowhere and read
    for no target."""
    for scope in ast.walk(parsed.tree(str(script))):
        if not isinstance(scope, ast.FunctionDef | ast.Module):
            continue
        nodes = list(parsed.within(scope))
        for node in nodes:
            names = _unpacked(node)
            times = [name for name in names if _TIME.search(name)]
            if len(names) < _LEAST or len(times) != 1:
                continue
            place = names.index(times[0])
            other = names[place - 1] if place > _FLAGS - 1 else ""
            kept = [call for call in nodes if isinstance(call, ast.Call) and _KEEPS.search(name_of(call.func))
                    and times[0] in parsed.names(call)]
            if other and kept and not any(_mixed(part, other) for part in nodes) and not any(other in parsed.names(call) for call in kept):
                return str(script), kept[0].lineno, getattr(scope, "name", "<module>")
    return None


def _unpacked(node: ast.AST) -> list[str]:
    """The names that what a `step(...)` gives is taken apart into."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or name_of(node.value.func) != "step":
        return []
    target = node.targets[0]
    return [part.id if isinstance(part, ast.Name) else "" for part in target.elts] if isinstance(target, ast.Tuple) else []


def _mixed(node: ast.AST, other: str) -> bool:
    """Whether something is bound to what is made of the other mark, `done = terminated or truncated`, beside a count of it."""
    if not isinstance(node, ast.Assign) or other not in parsed.names(node.value):
        return False
    return not any(isinstance(part, ast.Call) and name_of(part.func) == "step" for part in ast.walk(node.value))
