"""Losses of a script's own that hand what they are given to one of Keras' the other way round: read off its text."""

from __future__ import annotations

import ast
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_SIDED = {"kl_divergence", "kld", "kullback_leibler_divergence", "categorical_crossentropy", "binary_crossentropy",
          "sparse_categorical_crossentropy", "poisson"}


def exchanged(script: Path) -> Place | None:
    """Where a function `f(a, b)` that `compile(loss=f)` is given asks for `kl_divergence(b, a)`, or another that minds: Keras calls it with
    the true values first."""
    tree = parsed.tree(str(script))
    compiled = [call for call in ast.walk(tree) if isinstance(call, ast.Call) and name_of(call.func) == "compile"]
    given = {part.id for call in compiled for part in (*call.args, *(word.value for word in call.keywords if word.arg == "loss"))
             if isinstance(part, ast.Name)}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or function.name not in given or len(function.args.args) < 2:
            continue
        first, second = (part.arg for part in function.args.args[:2])
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and name_of(call.func).lower() in _SIDED and [
                    getattr(part, "id", "") for part in call.args[:2]] == [second, first]:
                return str(script), call.lineno, function.name
    return None
