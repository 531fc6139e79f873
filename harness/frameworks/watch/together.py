"""Answers and labels that a script puts together row by row, read off its text: for comparisons that no library hears of."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from harness.frameworks.watch import parsed
from harness.frameworks.watch.sites import Place

# What makes one value out of each row's, and leaves the rows in their order.
_ROWWISE = {"argmax", "astype", "ravel", "flatten", "squeeze", "reshape", "round", "rint", "numpy", "where", "int", "long", "float",
            "tolist", "cast", "cpu", "detach", "gt", "ge"}
_GATHERS = {"cat", "concatenate", "concat", "vstack", "hstack", "array", "asarray", "tensor", "list"}
_MODULES = {"np", "numpy", "tf", "ops", "torch", "jnp"}
_PRODUCTS = {"matmul", "mm", "dot", "inner", "einsum", "cosine_similarity", "cdist"}
_PLACES = {"diag", "diagonal", "diag_part", "arange", "eye", "trace"}
_SHOWS = {"print", "format", "info", "debug", "hist", "bincount", "unique", "isinstance", "type"}

Scope = ast.Module | ast.FunctionDef


def labels_beside(place: Place, method: str) -> Place | None:
    """Where a script reads the labels that it holds, row by row, against the answers that `method` gave at a place.

    Both have to be of one dataset by name, in one function. None where the text does not say so: what is counted, drawn or averaged by
    itself is not held against anything.
    """
    text = _Text(place)
    made = next((node for node in text.body if isinstance(node, ast.Assign) and _around(node, place[1])), None)
    inside = list(ast.walk(made.value)) if made is not None else []
    calls = [node for node in inside if isinstance(node, ast.Call) and _name(node.func) == method and node.args]
    if made is None or not calls:
        return None
    read = ((name, where) for name, where in text.kept(ast.dump(calls[0].args[0])) if text.held(_names(made.targets), {name}))
    return next(((place[0], where, place[2]) for _, where in read), None)


def rows_beside(one: Iterable[Place], other: Iterable[Place]) -> bool:
    """Whether a script holds the rows that it keeps of one pass over its data against those that it keeps of another.

    Of each pass the own frames that it began in, innermost first; what a helper returns is looked at where it is kept.
    """
    return any(text.held(*names) for text, _, *names in _kept_of(one, other))


def rows_across(one: Iterable[Place], other: Iterable[Place]) -> bool:
    """Whether a script takes the product of the rows that it keeps of one pass with all rows of another, and looks for each row's own among
    them by its place."""
    return any(text.by_place(line) and text.multiplied(*names) for text, line, *names in _kept_of(one, other))


def _kept_of(one: Iterable[Place], other: Iterable[Place]) -> Iterator[tuple[_Text, int, set[str], set[str]]]:
    """The innermost function in which both passes began, the line of the later one, and the names under which it keeps rows of each."""
    last = {(file, function): line for file, line, function in reversed(list(other))}
    for file, line, function in one:
        again = last.get((file, function))
        if again is not None and again != line and (function == "<module>" or not function.startswith("<")):
            text = _Text((file, line, function))
            yield text, max(line, again), text.made(line), text.made(again)
            return


class _Text:
    """The function that runs at a place, or the module, with the functions that it may call."""

    def __init__(self, place: Place) -> None:
        file, line, function = place
        module = parsed.tree(file)
        every = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
        scopes: list[Scope] = [node for node in every if node.name == function and _around(node, line)]
        self._functions = {node.name: node for node in every}
        self.body = list(_inside(scopes[-1] if scopes else module))
        self._lists = self._gathered(self.body)

    def made(self, line: int) -> set[str]:
        """The names under which a statement keeps rows: one that assigns them or adds them to a list, or a loop that does."""
        loops = [node for node in self.body if isinstance(node, ast.For) and node.lineno == line]
        inner = [part for loop in loops for node in loop.body for part in ast.walk(node)]
        found = {name for node in inner for name, _ in _added(node) if name in self._lists}
        for node in self.body:
            if isinstance(node, ast.Assign) and _around(node, line):
                found |= {name for name, value in self._given(node) if value is None or self._rows(value, self._lists)}
            elif isinstance(node, ast.AugAssign | ast.Expr) and _around(node, line):
                found |= {name for name, value in _added(node) if name in self._lists and self._rows(value, self._lists)}
        return found

    def kept(self, data: str) -> Iterator[tuple[str, int]]:
        """Names under which second parts of what the data delivers are kept, with the line."""
        for node in self.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and self._rows(node.value, set()):
                loops = [part for part in ast.walk(node.value) if isinstance(part, ast.ListComp | ast.GeneratorExp)]
                if any(ast.dump(part.generators[0].iter) == data and _second(part.generators[0].target) & _names([part.elt])
                       for part in loops):
                    yield node.targets[0].id, node.lineno
            elif isinstance(node, ast.For) and ast.dump(node.iter) == data:
                second = _second(node.target)
                yield from ((name, node.lineno) for part in ast.walk(node) for name, value in _added(part) if _names([value]) & second)

    def held(self, answers: set[str], labels: set[str]) -> bool:
        """Whether these, or what is made of them row by row, stand beside each other in a comparison or a call."""
        answers, labels = self._derived(answers), self._derived(labels)
        return not answers & labels and any(_both(node, answers, labels) for node in self.body)

    def multiplied(self, rows: set[str], others: set[str]) -> bool:
        """Whether a product is taken of these with those."""
        rows, others = self._derived(rows), self._derived(others)
        for node in self.body:
            sides = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) else []
            if isinstance(node, ast.Call) and _name(node.func) in _PRODUCTS:
                sides = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            found = [_names([side]) for side in sides]
            if not rows & others and any(rows & part for part in found) and any(others & part for part in found):
                return True
        return False

    def by_place(self, line: int) -> bool:
        """Whether behind a line rows have numbers by their places, or a table its diagonal."""
        return any(isinstance(node, ast.Call) and _name(node.func) in _PLACES and node.lineno > line for node in self.body)

    def _derived(self, names: set[str]) -> set[str]:
        known = set(names)
        for node in self.body:
            if isinstance(node, ast.Assign) and _row(node.value) in known:
                known |= _names(node.targets)
        return known

    def _gathered(self, body: list[ast.AST]) -> set[str]:
        """Names of lists that are begun, and of what is made of all batches."""
        found: set[str] = set()
        for node in body:
            if isinstance(node, ast.Assign):
                found |= {name for name, value in self._given(node) if value is None or self._rows(value, found)}
        return found

    def _given(self, node: ast.Assign) -> Iterator[tuple[str, ast.expr | None]]:
        """Each name with its value; None for a part of what a helper returns that is rows."""
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
            elif isinstance(target, ast.Tuple):
                values = node.value.elts if isinstance(node.value, ast.Tuple) else []
                for number, part in enumerate(target.elts):
                    if isinstance(part, ast.Name) and number < len(values):
                        yield part.id, values[number]
                    elif isinstance(part, ast.Name) and self._returns(node.value, number):
                        yield part.id, None

    def _returns(self, value: ast.expr, number: int | None = None) -> bool:
        """Whether a helper of the script's own returns rows, as the only thing or as one of several."""
        function = self._functions.pop(_name(value.func), None) if isinstance(value, ast.Call) else None
        if function is None:
            return False
        body = list(_inside(function))
        lists = self._gathered(body)
        self._functions[function.name] = function
        made = [node.value for node in body if isinstance(node, ast.Return) and node.value is not None]
        parts = [one.elts[number] if number is not None and isinstance(one, ast.Tuple) and number < len(one.elts) else one for one in made]
        whole = [part for part, one in zip(parts, made, strict=True) if number is None or part is not one]
        return any(self._rows(part, lists) for part in whole)

    def _rows(self, value: ast.expr, lists: set[str]) -> bool:
        """Whether a value has a part for each row that was passed over."""
        if isinstance(value, ast.ListComp | ast.List):
            return isinstance(value, ast.ListComp) or not value.elts
        if isinstance(value, ast.Name):
            return value.id in lists
        if isinstance(value, ast.Call) and _name(value.func) in _GATHERS:
            inner = _first(value)
            return isinstance(inner, ast.GeneratorExp) or (inner is not None and self._rows(inner, lists)) or not value.args
        if self._returns(value):
            return True
        inner = _first(value)
        return inner is not None and self._rows(inner, lists)


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


def _first(value: ast.expr) -> ast.expr | None:
    """What a value is made of row by row."""
    if isinstance(value, ast.Subscript):
        return value.value
    if isinstance(value, ast.Compare):  # `probabilities > 0.5`
        return value.left if all(isinstance(part, ast.Constant) for part in value.comparators) else None
    if isinstance(value, ast.Call) and _name(value.func) in _ROWWISE | _GATHERS:
        owner = value.func.value if isinstance(value.func, ast.Attribute) else None
        own = owner is not None and not (isinstance(owner, ast.Name) and owner.id in _MODULES)
        return owner if own else next(iter(value.args), None)
    return None


def _row(value: ast.AST) -> str | None:
    """The name that a value is, or is made of row by row."""
    inner: ast.AST | None = value
    while isinstance(inner, ast.expr) and not isinstance(inner, ast.Name):
        inner = _first(inner)
    return inner.id if isinstance(inner, ast.Name) else None


def _added(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The list that something is added to, and what."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, node.value
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and node.value.args:
        method = node.value.func
        if isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name) and method.attr in ("append", "extend"):
            yield method.value.id, node.value.args[0]


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
