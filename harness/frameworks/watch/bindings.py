"""What binds a name in a script's text: assignments, loops, what is put into a list or changed in place."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

# What is taken of a value, outermost first: "item" for one row of it, a number or a key for a part.
Path = tuple[int | str, ...]

PUT = frozenset({"append", "extend", "add"})


@dataclass(frozen=True)
class Bound:
    """What a name is bound to at a line: a part (`path`) of a value. `value`: None where it is changed in place; `kind`: how; "put" where
    the value is put into what the name holds."""

    line: int
    value: ast.expr | None
    path: Path
    kind: str = "reordered"


def name_of(function: Any) -> str:
    """The last name of what is called: `zeros` of `np.zeros`; empty where it has none."""
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def of_target(target: ast.expr, made: ast.expr, path: Path) -> Path:
    """What part of an item a comprehension makes this part of its element of: of `{"labels": int(b)} for a, b in rows` the second."""
    key = next((part for part in path if part != "item"), None)
    if isinstance(made, ast.Tuple | ast.List) and isinstance(key, int) and key < len(made.elts):
        made = made.elts[key]
    elif isinstance(made, ast.Dict):
        made = next((part for name, part in zip(made.keys, made.values, strict=True) if getattr(name, "value", None) == key), made)
    elif isinstance(made, ast.Call) and name_of(made.func) == "dict":
        made = next((word.value for word in made.keywords if word.arg == key), made.args[0] if made.args else made)
    names = [part.id for part in ast.walk(made) if isinstance(part, ast.Name)]
    if not isinstance(target, ast.Tuple) or key is None:
        return ()
    found = [number for number, part in enumerate(target.elts) if isinstance(part, ast.Name) and part.id in names]
    return ("item", found[0]) if len(found) == 1 else ()


def key_of(target: ast.expr) -> str:
    """The name that a target binds: `y`, `self.y`, `table[y]`."""
    if isinstance(target, ast.Name):
        return target.id
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
        return f"self.{target.attr}"
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and isinstance(target.slice, ast.Constant):
        return f"{target.value.id}[{target.slice.value!r}]"
    return ""


def of_place(args: list[ast.expr], place: int, path: Path) -> tuple[ast.expr | None, Path]:
    """What a call gives in a place, and which part of that: of `fit(*pair)` in the second place the second of the pair."""
    spread = next((number for number, arg in enumerate(args) if isinstance(arg, ast.Starred)), len(args))
    if place < spread:
        return args[place], path
    last = args[-1] if spread == len(args) - 1 else None
    return (last.value, (place - spread, *path)) if isinstance(last, ast.Starred) else (None, path)


def columns(index: ast.expr) -> bool:
    """Whether an index names columns of a table: `table[["price", "size"]]`."""
    return isinstance(index, ast.List) and bool(index.elts) and all(isinstance(getattr(part, "value", None), str) for part in index.elts)
