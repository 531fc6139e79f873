"""Answers and labels that a script puts together row by row, read off its text: for comparisons that no library hears of."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator

from harness.frameworks.watch.sites import Place

# What makes one value out of each row's, and leaves the rows in their order.
_ROWWISE = {"argmax", "astype", "ravel", "flatten", "squeeze", "reshape", "round", "rint", "numpy", "array", "asarray", "where", "int",
            "tolist", "list", "cast", "concatenate", "concat", "vstack", "hstack"}
_SHOWS = {"print", "format", "info", "debug", "hist", "bincount", "unique", "isinstance", "type"}


def labels_beside(place: Place, method: str) -> Place | None:
    """Where a script reads the labels that it holds, row by row, against the answers that `method` gave at a place.

    Both have to be of one dataset by name, in one function. None where the text does not say so: what is counted, drawn or averaged by
    itself is not held against anything.
    """
    file, line, function = place
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None
    scopes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == function and _around(node, line)]
    body = list(_inside(scopes[-1] if scopes else tree))
    made = next((node for node in body if isinstance(node, ast.Assign) and _around(node, line)), None)
    inside = list(ast.walk(made.value)) if made is not None else []
    calls = [node for node in inside if isinstance(node, ast.Call) and _name(node.func) == method and node.args]
    if made is None or not calls:
        return None
    data = ast.dump(calls[0].args[0])
    answers = _names(made.targets) | _derived(body, _names(made.targets))
    for kept, where in _kept(body, data):
        labels = {kept} | _derived(body, {kept})
        if not answers & labels and any(_both(node, answers, labels) for node in body):
            return file, where, function
    return None


def _around(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope in their order, without those of functions and classes within."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            yield from _inside(node)


def _names(targets: Iterable[ast.AST]) -> set[str]:
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _derived(body: list[ast.AST], names: set[str]) -> set[str]:
    """Names of what is made out of these, row by row."""
    known = set(names)
    for node in body:
        if isinstance(node, ast.Assign) and _row(node.value) in known:
            known |= _names(node.targets)
    return known - names


def _row(value: ast.AST) -> str | None:
    """The name that a value is, or is made of row by row."""
    if isinstance(value, ast.Name):
        return value.id
    if isinstance(value, ast.Subscript):
        return _row(value.value)
    if isinstance(value, ast.Compare):  # `probabilities > 0.5`
        return _row(value.left) if all(isinstance(part, ast.Constant) for part in value.comparators) else None
    if isinstance(value, ast.Call) and _name(value.func) in _ROWWISE:
        of_array = isinstance(value.func, ast.Attribute) and not (isinstance(value.func.value, ast.Name)
                                                                  and value.func.value.id in {"np", "numpy", "tf", "ops"})
        inner = value.func.value if of_array and isinstance(value.func, ast.Attribute) else next(iter(value.args), None)
        return _row(inner) if inner is not None else None
    return None


def _kept(body: list[ast.AST], data: str) -> Iterator[tuple[str, int]]:
    """Names under which second parts of what the data delivers are kept, with the line."""
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            for part in ast.walk(node.value):
                if isinstance(part, ast.ListComp | ast.GeneratorExp) and len(part.generators) == 1:
                    loop = part.generators[0]
                    if ast.dump(loop.iter) == data and (second := _second(loop.target)) & _names([part.elt]):
                        yield node.targets[0].id, node.lineno
                        break
        elif isinstance(node, ast.For) and ast.dump(node.iter) == data:
            second = _second(node.target)
            for call in (part for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute)):
                keeper = call.func.value if isinstance(call.func, ast.Attribute) else None
                if _name(call.func) in ("append", "extend") and isinstance(keeper, ast.Name) and _names(call.args[:1]) & second:
                    yield keeper.id, node.lineno


def _second(target: ast.AST) -> set[str]:
    return _names(target.elts[1:2]) if isinstance(target, ast.Tuple) and len(target.elts) > 1 else set()


def _both(node: ast.AST, answers: set[str], labels: set[str]) -> bool:
    """Whether an expression holds rows of one against rows of the other."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.BitAnd | ast.BitXor):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and _name(node.func) not in _SHOWS:
        parts = [*node.args, *(word.value for word in node.keywords)]
    elif isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):
        parts = list(node.elts)  # `table[true, predicted]`, `np.add.at(table, (true, predicted), 1)`
    rows = {_row(part) for part in parts}
    return bool(rows & answers) and bool(rows & labels)
