"""Gradients of a tape that are clipped after the step that they were for: read off a script's text, since a graph takes the steps."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_CLIPS, _STEPS = ("clip_by_global_norm", "clip_by_norm", "clip_by_value"), ("apply_gradients", "apply")


def written(script: Path) -> Place | None:
    """The first line that clips what a function, or a loop, has handed to `apply_gradients` before, and that nothing reads after it."""
    for scope in ast.walk(parsed.tree(str(script))):
        if not isinstance(scope, ast.FunctionDef | ast.For | ast.While):
            continue
        nodes = list(parsed.within(scope))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        steps = [call for call in calls if name_of(call.func) in _STEPS and call.args]
        clips = [call for call in calls if name_of(call.func) in _CLIPS and call.args]
        if len(steps) != 1 or not clips or any(clip.lineno <= (steps[0].end_lineno or 0) for clip in clips):
            continue
        stepped = parsed.names(steps[0].args[0])
        for clip in clips:
            plain = not any(isinstance(part, ast.BinOp) for part in ast.walk(clip.args[0]))  # and no step that is taken by hand
            if plain and stepped & parsed.names(clip.args[0]) and _gradients(nodes, stepped & parsed.names(clip.args[0])):
                return str(script), clip.lineno, getattr(scope, "name", "<module>")
    return None


def _gradients(nodes: list[ast.AST], names: set[str]) -> bool:
    """Whether one of these is what a tape gave."""
    return any(isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and name_of(node.value.func) == "gradient"
               and names & {part for target in node.targets for part in parsed.names(target)} for node in nodes)
