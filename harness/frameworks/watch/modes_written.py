"""Methods `train(self, mode)` of a script's own modules that forget which mode they were asked for: read off its text."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place


def forgotten(script: Path) -> Place | None:
    """Where such a method calls `super().train()`, which without a mode is training: `eval()` is `train(False)`."""
    for owner in (node for node in ast.walk(parsed.tree(str(script))) if isinstance(node, ast.ClassDef)):
        for method in (node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == "train"):
            for call in (node for node in ast.walk(method) if isinstance(node, ast.Call)):
                if not call.args and not call.keywords and len(method.args.args) > 1 and ast.unparse(call.func) == "super().train":
                    return str(script), call.lineno, method.name
    return None
