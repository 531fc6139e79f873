"""Columns that are made of the labels of all rows, group by group, before the rows are parted: read off a script's text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from harness.frameworks.watch import parsed
from harness.frameworks.watch.bindings import name_of
from harness.frameworks.watch.sites import Place

_MEANS, _SPLITS = ("mean", "median", "sum"), ("train_test_split", "random_split", "KFold", "StratifiedKFold", "ShuffleSplit")
_WANTED = ("stratify",)


def written(script: Path) -> Place | None:
    """The first line of `table[new] = table.groupby(key)[label].transform("mean")`, or a mean that is mapped by the key, of a table that is
    split afterwards, and whose column `label` is what is wanted: it is no input."""
    tree = parsed.tree(str(script))
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))):
        nodes = list(parsed.within(scope))
        splits = [(node.lineno, ast.unparse(node.args[0])) for node in nodes if isinstance(node, ast.Call)
                  and name_of(node.func) in _SPLITS and node.args]
        for node in nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                table = ast.unparse(node.targets[0].value)
                after = any(line > node.lineno and given == table for line, given in splits)
                for label in _grouped(node.value, table) if after else ():
                    if _wanted(tree, label) and not _left_out(node.value):
                        return str(script), node.lineno, getattr(scope, "name", "<module>")
    return None


def _grouped(value: ast.expr, table: str) -> Iterator[str]:
    """The column whose mean is taken, `table.groupby(...)["label"].transform("mean")`, or `.mean()` that is mapped by the key."""
    for call in ast.walk(value):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or not isinstance(call.func.value, ast.Subscript):
            continue
        told = call.func.attr in _MEANS or (call.func.attr in ("transform", "agg") and call.args and isinstance(
            call.args[0], ast.Constant) and call.args[0].value in _MEANS)
        column, owner = call.func.value.slice, call.func.value.value
        groups = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == "groupby"
        if told and groups and isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and ast.unparse(
                owner.func.value) == table and isinstance(column, ast.Constant) and isinstance(column.value, str):
            yield column.value


def _wanted(tree: ast.Module, label: str) -> bool:
    """Whether a column is what is asked for: rows are parted evenly by it, or it is given a name of what is wanted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in _WANTED and _reads(node.value, label):
            return True
        if isinstance(node, ast.Assign) and _reads(node.value, label):
            names = [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
            if any(name == "y" or name.startswith(("y_", "target", "label")) for name in names):
                return True
        if isinstance(node, ast.Call) and name_of(node.func) == "fit" and len(node.args) > 1 and _reads(node.args[1], label):
            return True
    return False


def _reads(value: ast.expr, label: str) -> bool:
    return any((isinstance(node, ast.Constant) and node.value == label) or (isinstance(node, ast.Attribute) and node.attr == label)
               for node in ast.walk(value))


def _left_out(value: ast.expr) -> bool:
    """Whether each row's own label is taken off again, as `(sum - own) / (count - 1)` does, or earlier rows alone count."""
    return any((isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub))
               or (isinstance(node, ast.Call) and name_of(node.func) in ("shift", "expanding", "cumsum", "rolling"))
               for node in ast.walk(value))
