"""Which names a function that takes any keyword looks for among those that it gets: written there, or kept in a list elsewhere."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from typing import Any

from harness.frameworks.watch import parsed


def of(model: Any, dropped: Iterable[str]) -> list[str]:
    """Those of these names that a model's `forward(..., **kwargs)` asks its `kwargs` for."""
    function = type(model).forward
    code = getattr(function, "__code__", None)
    if code is None or not code.co_flags & inspect.CO_VARKEYWORDS:
        return []
    known = {value for value in code.co_consts if isinstance(value, str)}
    if _reads(code):
        named = [list(part.keys()) for part in getattr(model, "_modules", {}).values() if hasattr(part, "keys")]  # ModuleDict
        values = [*vars(model).values(), *named, *(function.__globals__.get(name) for name in code.co_names)]
        known |= {part for value in values if isinstance(value, list | tuple | set | frozenset | dict) for part in value
                  if isinstance(part, str)}
    return [name for name in dropped if name in known]


def _reads(code: Any) -> bool:
    """Whether it makes more of its `**kwargs` than to hand them on."""
    taken = code.co_varnames[code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)]
    written = [node for node in ast.walk(parsed.tree(code.co_filename)) if isinstance(node, ast.FunctionDef)
               and node.name == code.co_name and node.lineno <= code.co_firstlineno + len(node.decorator_list) <= (node.end_lineno or 0)]
    handed = {id(word.value) for node in written for call in ast.walk(node) if isinstance(call, ast.Call)
              for word in call.keywords if word.arg is None}
    return any(isinstance(part, ast.Name) and part.id == taken and id(part) not in handed for node in written for part in ast.walk(node))
